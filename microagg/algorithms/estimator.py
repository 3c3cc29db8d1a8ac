"""What makes algorithms estimators of scikit-learn, whose import takes longer than a release of a thousand records.

:class:`Estimator` is their base until anything imports ``sklearn.base``, as whoever uses one as an estimator does; from
then on they derive from scikit-learn's own classes instead.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, ClusterMixin, OneToOneFeatureMixin, TransformerMixin

    class Estimator(OneToOneFeatureMixin, TransformerMixin, ClusterMixin, BaseEstimator): ...

else:

    class Estimator:
        """Imports scikit-learn as soon as a method of its estimators is looked for."""

        def __getattr__(self, name: str) -> Any:
            derive_from_sklearn()
            return object.__getattribute__(self, name)

        def __dir__(self) -> list[str]:
            derive_from_sklearn()
            return dir(self)

        def __repr__(self) -> str:
            derive_from_sklearn()
            return repr(self)


def derive_from_sklearn() -> None:
    """Put scikit-learn's classes in the place of :class:`Estimator`."""
    from sklearn.base import BaseEstimator, ClusterMixin, OneToOneFeatureMixin, TransformerMixin

    for base in Estimator.__subclasses__():
        base.__bases__ = (OneToOneFeatureMixin, TransformerMixin, ClusterMixin, BaseEstimator)
        for cls in _with_subclasses(base):
            super(base, cls).__init_subclass__()  # where scikit-learn adds to a class, such as set_output


def derive_with_sklearn() -> None:
    """Call :func:`derive_from_sklearn` now, or as soon as scikit-learn is imported."""
    if "sklearn.base" in sys.modules:
        derive_from_sklearn()
    elif _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


class _Finder:
    """Finds ``sklearn.base`` as the other finders do, and has :func:`derive_from_sklearn` called after its import."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "sklearn.base":
            return None
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not cls)
        spec = next(filter(None, specs), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                derive_from_sklearn()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _with_subclasses(cls: type[Any]) -> list[type[Any]]:
    return [cls, *(each for below in cls.__subclasses__() for each in _with_subclasses(below))]
