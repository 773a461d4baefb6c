"""Bayesian neural scaling laws: fit a law to small runs, get intervals for the large one.

Names are imported when they are first used, so that ``import bayescale`` costs nothing and a
saved posterior answers without JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayescale import check as check
    from bayescale import plot as plot
    from bayescale import zoo as zoo
    from bayescale.answers.approaches.run import approaches as approaches
    from bayescale.answers.backbones import predict_backbones as predict_backbones
    from bayescale.answers.batch_size import batch_size as batch_size
    from bayescale.answers.chain import Chain as Chain
    from bayescale.answers.composition import optima as optima
    from bayescale.answers.data_limit import allocate_limited as allocate_limited
    from bayescale.answers.envelope.run import envelope as envelope
    from bayescale.answers.invariance.ask import equal_exponents as equal_exponents
    from bayescale.answers.invariance.ask import invariance as invariance
    from bayescale.answers.isoflop.run import isoflop as isoflop
    from bayescale.answers.mix.run import mix as mix
    from bayescale.answers.multiplier import compute_multiplier as compute_multiplier
    from bayescale.answers.pareto.run import pareto as pareto
    from bayescale.answers.selection.run import select as select
    from bayescale.answers.serving.optimum import inference_optimum as inference_optimum
    from bayescale.answers.transfer import transfer_tax as transfer_tax
    from bayescale.answers.worth import worth as worth
    from bayescale.check.comparison.run import compare as compare
    from bayescale.check.comparison.stacked import Stack as Stack
    from bayescale.choosing import arrange as arrange
    from bayescale.data import SIX_ND as SIX_ND
    from bayescale.data import Curves as Curves
    from bayescale.data import Runs as Runs
    from bayescale.data import active_params as active_params
    from bayescale.data import read_runs as read_runs
    from bayescale.data.curves import clean_curves as clean_curves
    from bayescale.data.scores import Scores as Scores
    from bayescale.data.scores import capability_scores as capability_scores
    from bayescale.data.simulate import simulate as simulate
    from bayescale.errors import BayescaleError as BayescaleError
    from bayescale.errors import DataError as DataError
    from bayescale.errors import FitError as FitError
    from bayescale.errors import LawError as LawError
    from bayescale.families import FAMILIES as FAMILIES
    from bayescale.fitted import Fit as Fit
    from bayescale.fitting import fit as fit
    from bayescale.inference.numpyro_model import numpyro_model as numpyro_model
    from bayescale.inference.point import fit_point as fit_point
    from bayescale.inference.point_fit import PointFit as PointFit
    from bayescale.law import Centre as Centre
    from bayescale.law import Coordinate as Coordinate
    from bayescale.law import Derived as Derived
    from bayescale.law import Input as Input
    from bayescale.law import Law as Law
    from bayescale.law import Param as Param
    from bayescale.law import Reference as Reference
    from bayescale.laws import LAWS as LAWS
    from bayescale.laws import get_law as get_law
    from bayescale.laws import power_law as power_law
    from bayescale.laws.bimodal import bimodal as bimodal
    from bayescale.laws.broken_power_law import broken_power_law as broken_power_law
    from bayescale.laws.capability import capability as capability
    from bayescale.laws.capability_loss import capability_loss as capability_loss
    from bayescale.laws.decoupled import decoupled as decoupled
    from bayescale.laws.loss_to_accuracy import loss_to_accuracy as loss_to_accuracy
    from bayescale.laws.mixture import mixture as mixture
    from bayescale.laws.observational import observational as observational
    from bayescale.laws.repetition import repetition as repetition
    from bayescale.many.job import fit_many as fit_many
    from bayescale.many.result import ManyFits as ManyFits
    from bayescale.noise import Noise as Noise
    from bayescale.noise import log_normal as log_normal
    from bayescale.noise import logit_normal as logit_normal
    from bayescale.noise import normal as normal
    from bayescale.noise import student_t as student_t
    from bayescale.pooling import independent as independent
    from bayescale.pooling import partial as partial
    from bayescale.reporting.run import report as report
    from bayescale.saving import load as load

_HOMES = {
    "bayescale.answers.approaches.run": ("approaches",),
    "bayescale.answers.backbones": ("predict_backbones",),
    "bayescale.answers.batch_size": ("batch_size",),
    "bayescale.answers.chain": ("Chain",),
    "bayescale.answers.composition": ("optima",),
    "bayescale.answers.data_limit": ("allocate_limited",),
    "bayescale.answers.envelope.run": ("envelope",),
    "bayescale.answers.isoflop.run": ("isoflop",),
    "bayescale.answers.invariance.ask": ("equal_exponents", "invariance"),
    "bayescale.answers.mix.run": ("mix",),
    "bayescale.answers.multiplier": ("compute_multiplier",),
    "bayescale.answers.pareto.run": ("pareto",),
    "bayescale.answers.selection.run": ("select",),
    "bayescale.answers.transfer": ("transfer_tax",),
    "bayescale.answers.serving.optimum": ("inference_optimum",),
    "bayescale.answers.worth": ("worth",),
    "bayescale.check.comparison.run": ("compare",),
    "bayescale.choosing": ("arrange",),
    "bayescale.check.comparison.stacked": ("Stack",),
    "bayescale.data": ("Curves", "Runs", "SIX_ND", "active_params", "read_runs"),
    "bayescale.data.curves": ("clean_curves",),
    "bayescale.data.scores": ("Scores", "capability_scores"),
    "bayescale.data.simulate": ("simulate",),
    "bayescale.errors": ("BayescaleError", "DataError", "FitError", "LawError"),
    "bayescale.families": ("FAMILIES",),
    "bayescale.fitted": ("Fit",),
    "bayescale.fitting": ("fit",),
    "bayescale.inference.numpyro_model": ("numpyro_model",),
    "bayescale.inference.point": ("fit_point",),
    "bayescale.inference.point_fit": ("PointFit",),
    "bayescale.law": ("Centre", "Coordinate", "Derived", "Input", "Law", "Param", "Reference"),
    "bayescale.laws": ("LAWS", "get_law", "power_law"),
    "bayescale.laws.bimodal": ("bimodal",),
    "bayescale.laws.broken_power_law": ("broken_power_law",),
    "bayescale.laws.capability": ("capability",),
    "bayescale.laws.capability_loss": ("capability_loss",),
    "bayescale.laws.decoupled": ("decoupled",),
    "bayescale.laws.loss_to_accuracy": ("loss_to_accuracy",),
    "bayescale.laws.mixture": ("mixture",),
    "bayescale.laws.observational": ("observational",),
    "bayescale.laws.repetition": ("repetition",),
    "bayescale.many.job": ("fit_many",),
    "bayescale.many.result": ("ManyFits",),
    "bayescale.noise": ("Noise", "log_normal", "logit_normal", "normal", "student_t"),
    "bayescale.pooling": ("independent", "partial"),
    "bayescale.reporting.run": ("report",),
    "bayescale.saving": ("load",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in ("plot", "priors", "laws", "data", "answers", "check", "zoo"):
        return import_module(f"bayescale.{name}")
    raise AttributeError(f"module 'bayescale' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, "check", "plot", "priors", "zoo"])
