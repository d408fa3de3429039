"""Passwords of a config are masked wherever it is written, and reach the jobs that need them."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from rnshmc.errors import ParameterError, SourceError
from rnshmc.masking import MASK, VARIABLE, handed_over, mask_addresses, masked, unmasked

PASSWORD = "hunter2"
TARGET: dict[str, Any] = {
    "kind": "umbridge",
    "url": "http://localhost:4242",
    "config": {"fidelity": 2, "token": PASSWORD, "db": {"ApiKey": PASSWORD, "at": f"postgres://me:{PASSWORD}@db/x"}},
}
SHOWN: dict[str, Any] = {
    "kind": "umbridge",
    "url": "http://localhost:4242",
    "config": {"fidelity": 2, "token": MASK, "db": {"ApiKey": MASK, "at": f"postgres://{MASK}@db/x"}},
}


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:hunter2@host/a", f"http://{MASK}@host/a"),
        ("at https://hunter2@host:80, then ftp://a:b@c@d/e", f"at https://{MASK}@host:80, then ftp://{MASK}@d/e"),
        ("http://host/a@b?c=d@e", "http://host/a@b?c=d@e"),
        ("me@host", "me@host"),
    ],
)
def test_the_user_of_an_address_is_masked(address: str, shown: str) -> None:
    assert mask_addresses(address) == shown


def test_passwords_and_tokens_among_settings_are_masked_and_nothing_else() -> None:
    assert masked(TARGET) == SHOWN
    assert masked(SHOWN) == SHOWN
    plain = {"monkey": "x", "tokens": 3, "n_steps": [1, 2], "prior": {"mean": 0, "sd": None}, "authors": ["a@b"]}
    assert masked(plain) == plain


def test_jobs_have_what_is_masked_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert handed_over([SHOWN, {"kind": "logistic"}]) == {}
    assert unmasked(SHOWN) == SHOWN
    for name, value in handed_over([{"kind": "logistic"}, TARGET]).items():
        monkeypatch.setenv(name, value)
    assert unmasked(SHOWN) == TARGET
    assert unmasked({"kind": "logistic"}) == {"kind": "logistic"}


def test_a_target_is_made_with_what_its_parameters_mask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rnshmc.run.registry import load_target

    model = tmp_path / "locked_model.py"
    model.write_text(
        "class Model:\n    dim = 1\n    def __init__(self, token): assert token == 'hunter2'\n"
        "    def value(self, q): return 0.0\n"
    )
    target = {"kind": "python", "path": str(model), "make": "Model", "settings": {"token": PASSWORD}, "digest": "0"}
    monkeypatch.setenv(VARIABLE, handed_over([target])[VARIABLE])
    assert load_target(masked(target), tmp_path).dim == 1


def test_a_mirror_s_password_is_in_no_receipt_no_log_and_no_message(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from rnshmc.datasets.download import Limits
    from rnshmc.datasets.fetch import fetch
    from rnshmc.datasets.sources import RawFile, SourceTable

    file = RawFile("file.csv", ("0" * 64,), (), None)
    table = SourceTable({"file.csv": file}, {"data": ("file.csv",)})
    limits = Limits(stall_s=0.4, total_s=1.0, tries=2, pause_s=0.01)
    receipt = tmp_path / "receipt.json"
    caplog.set_level(logging.INFO)
    # Port 9 (discard) of the loopback: connections are refused at once.
    for mirror in (f"http://me:{PASSWORD}@127.0.0.1:9/data", f"ftp://me:{PASSWORD}@host/data"):
        options: dict[str, Any] = {"raw_dir": tmp_path, "mirror": mirror, "limits": limits}
        fetch("data", table, **options).save(receipt)
        with pytest.raises(SourceError) as refused:
            fetch("data", table, **options, policy="real-only")
        for text in (receipt.read_text(encoding="utf-8"), str(refused.value), caplog.text):
            assert f"the mirror {mirror.partition('me:')[0]}{MASK}@" in text
            assert PASSWORD not in text


def test_a_log_has_no_password_of_an_address_in_messages_or_tracebacks(tmp_path: Path) -> None:
    from rnshmc.run.job import job

    def work() -> None:
        with job(str(log)):
            logging.getLogger("rnshmc").info("asking http://me:%s@host/", PASSWORD)
            raise ValueError(f"no answer from http://me:{PASSWORD}@host/")

    log = tmp_path / "job.log"
    handlers = logging.getLogger().handlers[:]
    try:
        with pytest.raises(ValueError, match=PASSWORD):
            work()
    finally:
        logging.captureWarnings(False)
        logging.getLogger().handlers[:] = handlers
    text = log.read_text(encoding="utf-8")
    assert text.count(f"http://{MASK}@host/") >= 2
    assert "Traceback" in text
    assert f":{PASSWORD}@" not in text


def test_provenance_and_the_page_made_of_it_have_no_password() -> None:
    from rnshmc.store.provenance import provenance

    config = {"data": {"mirror": f"http://me:{PASSWORD}@host/data"}, "problems": {"mine": {"target": TARGET}}}
    content = provenance(config)
    assert content["config"] == {
        "data": {"mirror": f"http://{MASK}@host/data"},
        "problems": {"mine": {"target": SHOWN}},
    }
    assert PASSWORD not in json.dumps(content)


def test_a_password_in_the_address_of_a_model_server_is_refused_before_it_is_asked() -> None:
    from rnshmc.inference.exact.umbridge import UMBridge

    with pytest.raises(ParameterError, match="user names and passwords are not supported") as refused:
        UMBridge(f"http://me:{PASSWORD}@localhost:9")
    assert PASSWORD not in str(refused.value)
