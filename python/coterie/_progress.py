"""Progress of a fit: shown with tqdm if it is installed, otherwise as lines on standard error, and passed to the caller's callback."""
import sys
import time


class Progress:
    """The library calls it with the stage, the finished fraction of the stage, the objective and the iteration. If it returns True, the fit ends."""

    def __init__(self, title, verbose, callback):
        self.title, self.verbose, self.callback = title, verbose, callback
        self.stage, self.bar, self.told = None, None, 0.0

    @property
    def wanted(self):
        return bool(self.verbose) or self.callback is not None

    def __call__(self, stage, fraction, objective, iteration):
        if self.verbose:
            self._show(stage, fraction, objective, iteration)
        if self.callback is None:
            return False
        return bool(self.callback({"stage": stage, "fraction": fraction, "objective": objective, "iteration": iteration}))

    def _show(self, stage, fraction, objective, iteration):
        said = "" if objective != objective or iteration == 0 else f"objective {objective:.6g}"
        if stage != self.stage:
            self.close()
            self.stage, self.told = stage, 0.0
            try:
                from tqdm.auto import tqdm

                self.bar = tqdm(total=100, desc=f"{self.title}: {stage}", bar_format="{l_bar}{bar}| {postfix} [{elapsed}]", leave=False)
            except ImportError:
                self.bar = None
        if self.bar is not None:
            self.bar.n = round(100 * fraction)
            self.bar.set_postfix_str(f"iteration {iteration} {said}".strip())
        elif time.monotonic() - self.told > 0.5 or fraction >= 1:
            self.told = time.monotonic()
            print(f"{self.title}: {stage} {fraction:.0%}, iteration {iteration} {said}".rstrip(), file=sys.stderr)

    def close(self):
        if self.bar is not None:
            self.bar.close()
            self.bar = None
