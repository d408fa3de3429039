from rnshmc.errors import BudgetSpent as BudgetSpent
from rnshmc.errors import EvaluationError as EvaluationError
from rnshmc.errors import ParameterError as ParameterError
from rnshmc.errors import RnshmcError as RnshmcError
from rnshmc.inference.call import sample as sample
from rnshmc.inference.exact.least_squares import LeastSquares as LeastSquares
from rnshmc.inference.exact.umbridge import UMBridge as UMBridge
from rnshmc.inference.result.result import Result as Result
from rnshmc.kernels.adaptive_hmc import AdaptiveHMC as AdaptiveHMC
from rnshmc.kernels.hmc import HMC as HMC
from rnshmc.kernels.rmhmc import RMHMC as RMHMC
from rnshmc.kernels.sghmc import SGHMC as SGHMC
from rnshmc.kernels.sghmc import CorrectedSGHMC as CorrectedSGHMC
from rnshmc.surrogates.fitc import FITC as FITC
from rnshmc.surrogates.gaussian_process import GaussianProcess as GaussianProcess
from rnshmc.surrogates.gradient_network import GradientNetwork as GradientNetwork
from rnshmc.surrogates.online import OnlineNetwork as OnlineNetwork
from rnshmc.surrogates.random_network import RandomNetwork as RandomNetwork
from rnshmc.surrogates.rbf_network import RBFNetwork as RBFNetwork
from rnshmc.targets.banana import Banana as Banana
from rnshmc.targets.garch import Garch as Garch
from rnshmc.targets.gaussian import Gaussian as Gaussian
from rnshmc.targets.gp_regression import GPRegression as GPRegression
from rnshmc.targets.logistic import LogisticRegression as LogisticRegression
from rnshmc.targets.twisted_gaussian import TwistedGaussian as TwistedGaussian
from rnshmc.types import Potential as Potential

EXPORTS: dict[str, str]
