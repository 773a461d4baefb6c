"""Mixtures of experts."""

from bayescale.data.catalog.record import DataSet


def _routing(name: str, router: str) -> DataSet:
    return DataSet(
        name=f"routing-{name}",
        title=f"routed language models at the end of training, router {router}, one expert a token",
        file="routing_moe/routing_moe.csv",
        sha256="958ca637f7b18ed866352c77a25bfdc68023f5741cd381447ce43030298add32",
        columns={"N": "dense_parameter_count", "loss": "loss_validation", "C": "", "D": ""},
        where=f"is_final == True and k == 1 and routing_frequency == 0.5 and router_type == "
        f"'{router}'",
        citation="Clark et al. (2022), arXiv:2202.01169",
        licence="Apache-2.0",
        note="N is the dense size that each token passes; all runs are 250,000 steps of one batch "
        "size, so D does not vary.",
        laws=("clark",),
    )


SPARSE: tuple[DataSet, ...] = (
    _routing("s-base", "S-Base"), _routing("hash", "Hash"), _routing("rl-r", "RL-R"),
)  # fmt: skip
