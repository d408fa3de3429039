"""Published numbers and statements compared with ours."""
