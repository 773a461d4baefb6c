"""The names people give to parameters, tokens, compute and loss.

Compared in lower case and without punctuation, so "n_params", "nParams" and "N Params" are one.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROLES = ("N", "D", "C", "loss")
MEANING = {
    "N": "parameters", "D": "tokens", "C": "training FLOP", "loss": "nats per token",
    "U": "unique tokens",
}  # fmt: skip

# Further inputs of laws that files know by another name. Their column stays where it is, and a
# copy has the input's name; only a law that reads it asks what is in it.
FURTHER_NAMES = {
    "U": _words(
        "uniquetokens uniquetoken nuniquetokens numuniquetokens uniquetraintokens "
        "uniquetrainingtokens uniquedata utokens"
    ),
    "experts": _words("numexperts nexperts numberofexperts expertcount"),
    "S": _words("sparsity expertsparsity"),
    "G": _words("granularity expertgranularity"),
    "lr": _words("learningrate peaklr peaklearningrate maxlr maxlearningrate"),
    "bs": _words("batchsize globalbatchsize trainbatchsize"),
    "width": _words("dmodel hiddensize modelwidth hiddendim nembd"),
    "depth": _words("nlayers numlayers numhiddenlayers modeldepth nblocks numblocks"),
}

# Names that say the role and nothing else.
PLAIN_NAMES = {
    "N": _words(
        "nparams params parameters numparams numparameters nparameters paramcount "
        "parametercount parameterscount numberofparameters modelparams modelparameters"
    ),
    "D": _words(
        "ntokens tokens numtokens numberoftokens traintokens trainingtokens tokensseen "
        "tokencount ntraintokens ntrainingtokens trainedtokens dtokens"
    ),
    "C": _words(
        "flops flop compute trainflops trainflop trainingflops trainingflop trainingcompute "
        "traincompute totalflops nflops numflops computeflops computeflop cflops cflop"
    ),
    "loss": _words(
        "valloss validloss validationloss evalloss testloss finalloss trainloss trainingloss"
    ),
}

# Names that most likely mean the role, or a variant of it; taken only where no plainer name is.
LOOSE_NAMES = {
    "N": _words("modelsize size n"),
    "D": _words("datasetsize datasize pretrainingdatasize trainingdatasize d"),
    "C": _words("budget computebudget flopbudget flopsbudget c"),
    "loss": _words("nll crossentropy crossentropyloss xent celoss logperplexity logppl"),
}

# A header with one of these words, and no word of another role, names a variant of the role.
ROLE_WORDS = {
    "N": _words("params param parameters parameter"),
    "D": _words("tokens token"),
    "C": _words("flops flop compute"),
    "loss": _words("loss"),
}

# Words that turn a role's name into something else: a ratio, an error bar, a label.
OTHER_MEANING = _words("""
    per ratio unique share weight weights fraction frac pct percent
    std stderr se sd sem err error lo hi lo95 hi95 lower upper low high ci var variance
    convention label name id type step steps time scale multiplier rate throughput increase
    vocab batch rank context seq grad aux spike spikes delta diff
    bits bit bpb bpc ppl perplexity log ln log10 log2 logit
    pred predicted prediction fitted fit residual residuals
    mflop mflops gflop gflops tflop tflops pflop pflops teraflops petaflops mfu
""")

# Tokens or compute of something other than training the run.
NOT_TRAINING = {"D": _words("val eval test valid warmup"), "C": _words("inference infer")}

# What may follow a single letter: N_active, N_no_emb, C_6ND, D_train.
LETTER_QUALIFIERS = _words(
    "no non emb embed embedding embeddings noemb nonemb nonembedding total active act dense "
    "6nd train training all"
)
