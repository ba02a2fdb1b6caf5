#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the cost model of schedules to measurements of a chip.

  scripts/fit_schedules.py test/Schedule/Inputs/sm_90.jsonl.gz \\
      -o lib/Schedule/Models/sm_90.inc

norm-regret computes the model's terms of each measurement, so that this script
and the compiler cannot disagree about them. With --check nothing is written:
programs of a family, then widths, are left out of the fit, and what the choice
among their schedules loses against the fastest one is printed. With --term, for a
new term, or --access, for a kind of rows, what -o names is read first and keeps
all other weights: choices among schedules without the term, or of other rows,
stay as they are. Needs numpy.
"""

import argparse
import gzip
import io
import itertools
import json
import operator
import re
import subprocess
import sys

import numpy as np

# Where the functions bend: logarithms of base 2, but for shares and 0 or 1.
WORK = [9, 13, 15, 17, 20]
KNOTS = {
    "vectors": [0, 1, 1.6, 2, 2.6, 3, 4],
    "narrowed": [0, 1, 2, 3],
    "split": [0, 1, 2],
    "bytes": [4, 5, 6, 7, 8, 10],
    "used": [0.5, 0.75, 1],
    "padded": [0, 0.5, 1],
    "cache": [0, 1, 2],
    "awaited": [0, 1],
    "cluster": [0, 1, 2, 3, 4],
    "occupancy": [0, 1, 2, 3, 4, 5],
    "waves": [-6, -3, -1, 0, 0.3, 1, 2, 4],
    "blocks": [-6, -2, 0, 1, 3, 5],
    "instructions": [6, 13],
    "groups": [0, 2, 4],
    "in_flight": [0, 1, 2],
    "stages": [0, 2, 3, 4],
    "idle": [0, 0.3, 0.6, 1],
    "sums": [0, 1, 2],
    "strip": [2, 3, 4, 5, 6, 7],
    "sum_blocks": [-5, -3, -2, -1, 0, 1, 2],
    "sum_threads": [0, 4, 5, 6, 7, 8, 9, 10],
    "sum_turns": [0, 1, 2, 3, 4, 6],
    "sum_idle": [0, 0.3, 1, 2, 4, 6],
    "partials": [-6, -5, -4, -3, -2, -1, 0, 1, 2],
}
# How rows are accessed (RowAccess), and a penalty on the squares of weights, in
# measurements. Rows of narrow accesses were measured of fewer programs, to which
# the weights would fit too closely.
RIDGE = {"whole": 1.0, "narrow": 2.0, "parts": 0.3}
# The second fit: the difference of predictions in which a schedule counts as
# nearly as good as another, how much more the loss of a choice counts the more
# it is, what the first fit counts for, and steps.
SOFTNESS = 0.05
STEEPNESS = 3.0
FIRST_FIT = 4.0
STEPS = 150

# Programs that resemble each other, which --check leaves out together.
FAMILIES = [
    ["norm", "norm_f16", "norm_wf32", "qk_rope", "rope_pairs", "rope_bf16",
     "rope_sections", "heads_halves", "heads_pairs"],
    ["norm_f32"],
    ["residual"],
    ["silu", "gated_silu", "mamba_gated", "silu_fp8"],
    ["fp8_row", "fp8_static", "int8_row", "add_fp8_row", "add_fp8_static",
     "add_int8_row"],
    ["fp8_block", "mxfp8", "mxfp8_y", "nvfp4", "rope_fp8", "rope_mxfp8",
     "rope_pairs_mxfp8", "heads_halves_fp8", "heads_pairs_fp8"],
    ["adaln", "dit_ln"],
    ["layer_norm", "softmax"],
    ["backward", "backward_f16", "train"],
    ["backward_f32"],
    ["bias_residual", "gated_residual", "gated_residual_next", "stream_norm",
     "stream_fp8"],
    ["dyt", "gelu_gate"],
    ["scale_shift"],
    ["stream_backward"],
    ["dbias", "adaln_backward", "halves_backward"],
]
WIDTH_FOLDS = 8


def hat(values, knots):
    """The piecewise linear basis of `knots`, constant beyond the ends."""
    knots = np.asarray(knots, float)
    values = np.clip(values, knots[0], knots[-1])
    place = np.clip(np.searchsorted(knots, values, "right") - 1, 0,
                    len(knots) - 2)
    share = (values - knots[place]) / (knots[place + 1] - knots[place])
    basis = np.zeros((len(values), len(knots)))
    rows = np.arange(len(values))
    basis[rows, place] = 1 - share
    basis[rows, place + 1] += share
    return basis


class Measurements:
    """Those of programs that sum over rows, or of the others."""

    def __init__(self, names, lines, access):
        columns = dict(zip(names, zip(*lines)))
        self.program = np.array(columns["program"])
        self.columns = np.array(columns["columns"], int)
        self.rows = np.array(columns["rows"], int)
        self.in_space = np.array(columns["in_space"], int) == 1
        us = np.array(columns["us"], float)
        keys = list(zip(columns["program"], columns["columns"],
                        columns["rows"]))
        ids = {}
        self.point = np.array([ids.setdefault(key, len(ids)) for key in keys])
        self.count = len(ids)
        best = np.full(self.count, np.inf)
        np.minimum.at(best, self.point, us)
        self.slower = us / best[self.point]
        work = hat(np.array(columns["work"], float), WORK)
        values = {name: np.array(columns[name], float) for name in KNOTS}
        self.ridge = RIDGE[access]
        # A term that is always the same explains nothing.
        self.knots = {name: knots for name, knots in KNOTS.items()
                      if np.ptp(values[name]) > 0}
        self.matrix = np.concatenate(
            [(hat(values[name], knots)[:, :, None]
              * work[:, None, :]).reshape(len(us), -1)
             for name, knots in self.knots.items()], 1)
        # What the weights that are not fitted add to a prediction.
        self.fixed = np.zeros(len(us))

    def fit_term(self, term, kept):
        """Weights of which only those of `term` are fitted; `kept` are those
        of each term before."""
        new = np.zeros((len(KNOTS[term]), len(WORK)))
        weights = np.concatenate(
            [new if name == term else kept[name] for name in self.knots]).reshape(-1)
        own = np.concatenate(
            [np.full(len(knots) * len(WORK), name == term)
             for name, knots in self.knots.items()])
        if term in self.knots:
            everything = self.matrix
            self.fixed, self.matrix = everything @ weights, everything[:, own]
            weights[own] = self.fit(np.ones(len(self.slower), bool))
            self.matrix = everything
        return weights

    def fit(self, use):
        """Weights that make the choice at each point lose little, by
        predictions that are near the measured times."""
        weights, curvature = self.fit_times(use)
        index = np.where(self.in_space & use)[0]
        index = index[np.argsort(self.point[index], kind="stable")]
        point = self.point[index]
        begin = np.concatenate([[0], np.where(np.diff(point))[0] + 1])
        place = np.cumsum(np.concatenate([[0], np.diff(point) != 0]))
        matrix, loss = self.matrix[index], self.get_loss(index)
        loss = loss * (1 + STEEPNESS * loss)
        first, step = weights, 0.1
        inverse = np.linalg.inv(curvature)
        for _ in range(STEPS):
            # The loss of a choice by chance, the likelier the less a schedule
            # is predicted to take.
            costs = -(self.fixed[index] + matrix @ weights) / SOFTNESS
            share = np.exp(costs - np.maximum.reduceat(costs, begin)[place])
            share /= np.add.reduceat(share, begin)[place]
            expected = np.add.reduceat(share * loss, begin)[place]
            slope = matrix.T @ (share * (expected - loss)) / (
                SOFTNESS * FIRST_FIT * len(begin))
            weights = weights - step * (inverse @ slope + weights - first)
        return weights

    def get_loss(self, index=slice(None)):
        """The logarithms of times by that of the fastest schedule, where what
        is slow is slow."""
        return np.minimum(np.log(self.slower[index]), 0.7)

    def fit_times(self, use):
        """Weights by least squares of the logarithms of the times of a point
        against each other, of schedules that can be chosen, and the matrix of
        these squares. Slow ones count less."""
        weight = np.clip(self.slower, 1, 3) ** -2.0 * self.in_space * use
        target = self.get_loss() - self.fixed
        total = np.maximum(np.bincount(self.point, weight, self.count), 1e-9)
        order = np.argsort(self.point, kind="stable")
        begin = np.concatenate(
            [[0], np.cumsum(np.bincount(self.point))])[:-1]
        means = np.add.reduceat((self.matrix * weight[:, None])[order], begin,
                                axis=0) / total[:, None]
        mean = np.bincount(self.point, weight * target, self.count) / total
        matrix = self.matrix - means[self.point]
        weighted = (matrix * weight[:, None]).T
        squares = weighted @ matrix + self.ridge * np.eye(matrix.shape[1])
        return (np.linalg.solve(squares, weighted @ (target - mean[self.point])),
                squares / weight.sum())

    def get_regrets(self, costs):
        """Percent lost at each point by the schedule of least cost."""
        index = np.where(self.in_space)[0]
        order = index[np.lexsort((costs[index], self.point[index]))]
        first = np.concatenate(
            [[True], self.point[order][1:] != self.point[order][:-1]])
        return np.sort(100 * (self.slower[order[first]] - 1))


def read(tool, path):
    """What all measurements have in common, and the measurements of each kind:
    whether programs sum over rows, and how they access rows."""
    text = gzip.open(path, "rt").read()
    terms = subprocess.run([tool, "--terms"], input=text, text=True,
                           stdout=subprocess.PIPE, check=True).stdout
    names, *lines = [line.split() for line in terms.splitlines()]
    kind_of = operator.itemgetter(names.index("sums_over_rows"),
                                  names.index("row_access"))
    by_kind = {kind: [line for line in lines if kind_of(line) == kind]
               for kind in itertools.product("01", RIDGE)}
    return json.loads(text.splitlines()[0]), {
        kind: Measurements(names, own, access=kind[1])
        for kind, own in by_kind.items() if own}


def describe(regrets):
    at = lambda share: regrets[int(share * len(regrets))]
    return ("mean %.1f  median %.1f  p90 %.1f  p99 %.1f  worst %.1f" %
            (regrets.mean(), at(0.5), at(0.9), at(0.99), regrets[-1]))


def check(data):
    everything = data.matrix @ data.fit(np.ones(len(data.slower), bool))
    print("nothing left out:  ", describe(data.get_regrets(everything)))
    family = {name: i for i, names in enumerate(FAMILIES) for name in names}
    for program in sorted(set(data.program) - set(family)):
        family[program] = max(family.values()) + 1
    widths = np.unique(data.columns, return_inverse=True)[1] % WIDTH_FOLDS
    for name, fold in (("families", np.array([family[program] for program in
                                              data.program])),
                       ("widths", widths)):
        costs = np.zeros(len(data.slower))
        for one in np.unique(fold):
            left_out = fold == one
            costs[left_out] = data.matrix[left_out] @ data.fit(~left_out)
        print("%-19s" % (name + " left out:"),
              describe(data.get_regrets(costs)))


def describe_kind(sums, access):
    return "%s, %s" % (
        "programs that sum over rows" if sums == "1" else "other programs",
        {"whole": "whole vectors", "narrow": "narrow accesses",
         "parts": "rows taken apart"}[access])


def read_models(path):
    """The weights of each term of the models in a file that write makes."""
    models = []
    for text in open(path).read().split('{"')[1:]:
        models.append({})
        for name, rows in re.findall(
                r"/\*(\w+)\*/\s*\{\d+,\s*\{[^}]*\},\s*\{(.*?)\s\}\}", text, re.S):
            models[-1][name] = np.array(
                [[float(value) for value in row.split(",")]
                 for row in re.findall(r"\{([^}]*)\}", rows)])
    return models


def write_model(file, target, data, kind, term, kept):
    weights = (data.fit_term(term, kept) if term else data.fit(
        np.ones(len(data.slower), bool))).round(4)
    file.write("// %s: %d measurements of %d points\n" %
               (describe_kind(*kind), data.in_space.sum(), data.count))
    file.write("// %s\n" % describe(data.get_regrets(data.matrix @ weights)))
    file.write('{"%s",\n %s, RowAccess::%s,\n {%s},\n {' % (
        target, "true" if kind[0] == "1" else "false", kind[1],
        ", ".join(map(str, WORK))))
    begin = 0
    for name in KNOTS:
        knots = data.knots.get(name, [])
        file.write("\n     /*%s*/\n     {%d," % (name, len(knots)))
        file.write("\n      {%s},\n      {" % ", ".join(map(str, knots)))
        for _ in knots:
            file.write("\n          {%s}," % ", ".join(
                "%g" % value for value in weights[begin:begin + len(WORK)]))
            begin += len(WORK)
        file.write("\n      }},")
    file.write("\n }},\n")


def read_texts(path):
    """What write has written of each kind, by its description."""
    pieces = re.split(r"(?m)^// (?=[^\n]*: \d+ measurements of)",
                      open(path).read())[1:]
    return {piece.split(":")[0]: "// " + piece for piece in pieces}


def write(head, kinds, path, term, access):
    kept = read_models(path) if term else [None] * len(kinds)
    texts = read_texts(path) if access else {}
    text = io.StringIO()
    text.write("// Written by scripts/fit_schedules.py, do not edit.\n")
    for key in ("device", "date", "driver", "ptxas", "llvm", "commit"):
        text.write("// %s: %s\n" % (key, head.get(key, "?")))
    for other in head.values():
        if isinstance(other, dict) and other["device"] != head["device"]:
            text.write("// and %d programs: %s, %s\n" %
                       (other["lines"], other["device"], other["date"]))
    for (kind, data), weights in zip(kinds.items(), kept, strict=True):
        if access and kind[1] != access:
            text.write(texts[describe_kind(*kind)])
            continue
        write_model(text, head["target"].removeprefix("sim:"), data, kind, term,
                    weights)
    with open(path, "w") as file:
        file.write(text.getvalue())


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("measurements", help="a .jsonl.gz, as norm-regret "
                        "reads it")
    parser.add_argument("-o", dest="output", help="the model to write")
    parser.add_argument("--check", action="store_true",
                        help="print what choices lose that were not fitted")
    parser.add_argument("--term", choices=KNOTS,
                        help="fit the weights of this term alone")
    parser.add_argument("--access", choices=RIDGE,
                        help="fit the models of rows that are accessed so "
                        "alone, and keep the others that -o names")
    parser.add_argument("--norm-regret", default="build/bin/norm-regret",
                        help="the tool (%(default)s)")
    options = parser.parse_args()
    head, kinds = read(options.norm_regret, options.measurements)
    if options.check:
        for kind, data in kinds.items():
            print(describe_kind(*kind))
            check(data)
    if options.output:
        write(head, kinds, options.output, options.term, options.access)


if __name__ == "__main__":
    main()
