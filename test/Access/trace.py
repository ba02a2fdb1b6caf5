# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks where clusters say that they read and write, against the ops themselves.

    trace.py [--all] [--samples=N] [--seed=S] [--random=N] [--graphs=N] [--mutate] [--verbose] FILE...

rmsnorm-print-accesses gives the ops of each function and its clusters, with a
map for each access. This program knows nothing of layouts: it follows single
elements through the ops, each as its semantics say, back to what computed them.
For iterations of each member, drawn at random and those at the ends, or --all:

- the element that a map names is the one that the op reads there;
- what is read of another member is of the same row;
- what is said to be stored in an element of a result is what is found there;

and for all iterations, from the maps alone: a member's loops are taken once
each, no element is stored twice, and what a member computes and a function
returns is stored. No two clusters need results of each other. Sizes that are known at run time only are as different as
the ops allow.

With --mutate one map of each function is changed, and each change has to be
found. --random adds that many programs of test/Views, --graphs of graphs.py.
norm-opt is taken from the PATH. A FILE may be a folder.
"""

import argparse
import collections
import itertools
import math
import os
import random
import re
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "Views"), os.path.join(HERE, "..", "..", "benchmarks")]
from graphs import Graph
from ops import Function, Retry, Sizes, Skip, flat, parse_map, to_function, unflat
from program import Program
from programs import read_programs

# Iterations of one member beyond which maps are not looked at as a whole.
MOST = 400_000


# Clusters.

class Map:
    """A map with the sizes of its dimensions."""

    def __init__(self, function, rows, data):
        def size_of(source):
            if source["dim"] < 0:
                return function.scalars[source["value"]]
            return function.shapes[source["value"]][source["dim"]]
        self.sizes = rows + [column["number"] * math.prod(map(size_of, column["sources"])) for column in data["columns"]]
        self.symbols = [int(size_of(source)) for source in data["sizes"]]
        self.text, self.function = data["map"], to_function(data["map"])
        self.count = math.prod(self.sizes)

    def __call__(self, point, operands=()):
        return self.function(*point, *operands, *self.symbols)

    def everywhere(self, shape, then=None):
        """The number of the element for each point, in order; `then` is a map of the results of this one."""
        dims, symbols, results = parse_map(self.text)
        if then:
            results = [re.sub(r"d(\d+)", lambda match: f"({results[int(match[1])]})", result) for result in parse_map(then)[2]]
        number = "0"
        for result, size in zip(results, shape):
            number = f"({number}) * {size} + ({result})"
        loops = " ".join(f"for {dim} in range({size})" for dim, size in zip(dims, self.sizes))
        values = dict(zip(symbols, self.symbols))
        return eval(f"[{number} {loops}]" if loops else f"[{number}]", values)


class Checker:
    def __init__(self, function, cluster, options, rng):
        self.function, self.cluster, self.options, self.rng = function, cluster, options, rng
        self.right, self.wrong, self.unknown = 0, [], 0
        self.rows = [int(function.shapes[row["value"]][row["dim"]]) for row in cluster["rows"]]
        self.members = cluster["members"]
        self.loops = [Map(function, self.rows, member["loops"]) for member in self.members]
        self.numbers = {member["op"]: number for number, member in enumerate(self.members)}
        self.owners, self.row_numbers, self.stored = {}, {}, collections.defaultdict(list)
        for number, member in enumerate(self.members):
            for result in function.ops[member["op"]]["out"]:
                self.owners[result["id"]] = number

    def say(self, is_right, what):
        if is_right is None:
            self.unknown += 1
        elif is_right:
            self.right += 1
        else:
            self.wrong.append(what)

    def points(self, sizes):
        count = math.prod(sizes)
        if self.options.all or count <= self.options.samples:
            return itertools.product(*map(range, sizes))
        ends = itertools.islice(itertools.product(*({0, int(size) - 1} for size in sizes)), 64)
        drawn = (tuple(self.rng.randrange(size) for size in sizes) for _ in range(self.options.samples))
        return itertools.chain(ends, drawn)

    def is_row(self, value, index, row):
        """Whether a member computes an element in a row."""
        function, number = self.function, self.owners[value]
        loops, shape = self.loops[number], function.shapes[value]
        if loops.count > MOST:
            return True
        if value not in self.row_numbers:
            op = function.ops[self.members[number]["op"]]
            operand = len(op["in"]) - len(op["out"]) + [result["id"] for result in op["out"]].index(value)
            columns = math.prod(loops.sizes[len(self.rows):])
            places = loops.everywhere(shape, function.map(op, operand))
            found = self.row_numbers[value] = {}
            for point, place in enumerate(places):
                # What is summed over rows is of none.
                if found.setdefault(place, point // columns) != point // columns:
                    found[place] = -1
        return self.row_numbers[value].get(flat(index, shape)) == flat(row, self.rows)

    def check(self):
        for number, member in enumerate(self.members):
            loops, op = self.loops[number], self.function.ops[member["op"]]
            sizes = self.function.loops(op)
            if loops.count > MOST:
                self.unknown += 1
                continue
            places = loops.everywhere(sizes)
            if op["name"].startswith("rmsnorm."):
                columns, rows = math.prod(loops.sizes[len(self.rows):]), {}
                self.say(all(rows.setdefault(place // sizes[-1], point // columns) == point // columns for point, place in enumerate(places)),
                         f"a row of {op['name']} is in several")
            places = set(places)
            self.say(len(places) == loops.count == math.prod(sizes) and (not places or 0 <= min(places) <= max(places) < loops.count),
                     f"loops of {op['name']}")
        accesses = self.cluster["accesses"]
        for access in accesses:
            name = f"{access['kind']} of {self.function.ops[self.members[access['member']]['op']]['name']}"
            if "map" in access:
                name += f" {access['map']['map']}"
            try:
                if access["kind"] == "escape":
                    continue  # it says nothing of places
                if access["kind"] in ("store", "accumulate"):
                    self.say(self.is_write_right(access), name)
                else:
                    self.say(self.is_read_right(access, accesses), name)
            except IndexError:
                self.say(False, name + ": out of bounds")

    def is_read_right(self, access, accesses):
        function = self.function
        where = Map(function, self.rows, access["map"])
        loops, op = self.loops[access["member"]], function.ops[self.members[access["member"]]["op"]]
        parent = accesses[access["parent"]] if "parent" in access else None
        whole = None
        if parent:
            op = function.definitions[parent["value"]]
            if parent["kind"] == "computed":
                loops = Map(function, self.rows, parent["loops"])
            else:
                loops = whole = Map(function, self.rows, access["whole"])
        shape = function.shapes[access["value"]]
        checked = 0
        for point in self.points(loops.sizes):
            if access["kind"] == "gather":
                known = function.body(op, loops(point))
                extract = function.ops[access["extract"]]
                get = lambda value: known.get(value, function.scalars.get(value))
                index = [get(value) for value in extract["in"][1:]]
                operands = [get(value) for value in access["indices"]]
                if None in index or None in operands:
                    continue
                value, told = extract["in"][0], where(point, operands)
            else:
                value = op["in"][access["operand"]]
                index = whole(point) if whole else function.index(op, access["operand"], loops(point))
                told = where(point)
            checked += 1
            if not all(0 <= i < size for i, size in zip(told, shape)):
                return False
            found, said = function.origin(value, index), function.origin(access["value"], told)
            if found != said:
                return False
            if said[0] in self.owners and access["kind"] in ("member", "assembled"):
                if not self.is_row(*said, point[:len(self.rows)]):
                    return False
            if access["kind"] == "computed":
                own = function.definitions[access["value"]]
                inner = Map(function, self.rows, access["loops"])(point)
                if function.index(own, len(own["in"]) - 1, inner) != told:
                    return False
        return True if checked else None

    def is_write_right(self, access):
        function = self.function
        to, source = Map(function, self.rows, access["map"]), Map(function, self.rows, access["from"])
        result, shape = access["value"], function.shapes[access["value"]]
        for point in self.points(to.sizes):
            told, own = to(point), source(point)
            if not all(0 <= i < size for i, size in zip(told, shape)):
                return False
            found = function.copied(result, told)
            if found != function.copied(access["source"], own):
                return False
            member = function.origin(access["source"], own)
            if member[0] not in self.owners:
                return False
            if access["kind"] == "store" and not self.is_row(*member, point[:len(self.rows)]):
                return False
        if access["kind"] == "store":
            self.stored[access["operand"]].append(to)
        else:
            self.stored[access["operand"]].append(None)
        return True


def check_coverage(function, checkers, options, rng):
    """What is wrong with the stores of a function as a whole."""
    wrong = []
    for number, result in enumerate(function.returned):
        if result not in function.shapes:
            continue
        shape, maps = function.shapes[result], []
        owners = {value for checker in checkers for value in checker.owners}
        for checker in checkers:
            maps += checker.stored[number]
        if None in maps or sum(to.count for to in maps) > MOST or any(
                access["kind"] == "escape" for checker in checkers for access in checker.cluster["accesses"]):
            continue
        stored = [place for to in maps for place in to.everywhere(shape)]
        if len(stored) != len(set(stored)):
            wrong.append(f"result {number} is stored twice")
        stored = set(stored)
        total = math.prod(shape)
        for _ in range(total if options.all else min(total, options.samples)):
            place = _ if options.all or total <= options.samples else rng.randrange(total)
            if function.copied(result, unflat(place, shape))[0] in owners and place not in stored:
                wrong.append(f"result {number} has elements that are not stored")
                break
    return wrong


def needs(op):
    """The values that an op or its regions use."""
    return set(op["in"]).union(*(needs(inner) for region in op["regions"] for block in region for inner in block["ops"]))


def check_order(function, clusters):
    """Each cluster can be computed as a whole: no two need results of each other."""
    cluster_of = {member["op"]: f"cluster {number}" for number, cluster in enumerate(clusters) for member in cluster["members"]}
    name = lambda op: cluster_of.get(op["op"], op["op"])
    feeds = {op["op"]: needs(op) for op in function.block if op["op"] not in cluster_of}
    for number, cluster in enumerate(clusters):
        feeds[f"cluster {number}"] = {access["value"] for access in cluster["accesses"] if access["kind"] in ("load", "gather")}
    for op, values in feeds.items():
        feeds[op] = {name(function.definitions[value]) for value in values if value in function.definitions}
    left = dict(feeds)
    while ready := [op for op, before in left.items() if not before & left.keys()]:
        for op in ready:
            del left[op]
    return ["clusters need results of each other"] if left else []


CHOICES = [(3, 2, 5, 4, 7), (6, 4, 10, 8, 12), (24, 6, 4, 12, 2), (256, 128, 384, 512, 640)] + [
    (size,) for size in (6, 4, 8, 24, 128, 256, 512)]


def check_function(program, options):
    """The checkers of a function's clusters and what is wrong with all, or why it is not checked."""
    why = ""
    for choice in CHOICES:
        sizes = Sizes(choice)
        for _ in range(60):
            try:
                rng = random.Random(options.seed)
                function = Function(program["function"], sizes)
                checkers = [Checker(function, cluster, options, rng) for cluster in program["clusters"]]
                for checker in checkers:
                    checker.check()
                return checkers, check_coverage(function, checkers, options, rng) + check_order(function, program["clusters"])
            except Retry:
                continue
            except Skip as error:
                why = str(error)
                break
            except (KeyError, TypeError, ZeroDivisionError) as error:
                why = repr(error)
                break
        else:
            why = why or "no sizes fit"
    return why


def mutate(program, rng):
    """Changes one map; says how, or None if there is none."""
    accesses = [access for cluster in program["clusters"] for access in cluster["accesses"]
                if "map" in access and access["kind"] != "constant" and "d" in access["map"]["map"].split("->")[1]
                and "parent" not in access]
    if not accesses:
        return None
    access = rng.choice(accesses)
    head, _, results = access["map"]["map"].partition(" -> ")
    results = results[1:-1].split(", ")
    used = [i for i, result in enumerate(results) if "d" in result]
    ways = ["offset", "factor"] + (["exchange"] if len(used) > 1 else [])
    way, place = rng.choice(ways), rng.choice(used)
    if way == "offset":
        results[place] += " + 1"
    elif way == "factor":
        results[place] = f"({results[place]}) * 2"
    else:
        other = rng.choice([i for i in used if i != place])
        results[place], results[other] = results[other], results[place]
    access["map"]["map"] = f"{head} -> ({', '.join(results)})"
    return f"{way} in {access['kind']} {access['map']['map']}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--graphs", type=int, default=0)
    parser.add_argument("--mutate", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    table, kinds, bad = collections.Counter(), collections.Counter(), 0
    # Elements that are stored at run-time indices are nowhere that it could follow.
    made = [Program(options.seed + i) for i in range(options.random)]
    made = [Program(one.seed, [step for step in one.steps if not step.endswith(":scatter")]) for one in made] + [Graph(options.seed + i) for i in range(options.graphs)]
    programs, errors = read_programs(options.files, made)
    for path, program in programs:
        name = f"{path} @{program['name']}"
        table["functions"] += 1
        if not program["clusters"]:
            table["without clusters"] += 1
            continue
        # Where their rows go only a run knows: test/Views compares what is in memory.
        if any(op["name"] == "rmsnorm.scatter" for op in program["function"]["regions"][0][0]["ops"]):
            table["with scatters"] += 1
            continue
        change = None
        if options.mutate:
            change = mutate(program, random.Random(f"{options.seed} {name}"))
            if not change:
                continue
        checked = check_function(program, options)
        if isinstance(checked, str):
            table["not checked"] += 1
            print(f"not checked: {name}: {checked}" + (f": {change}" if change else ""))
            continue
        checkers, wrong = checked
        wrong = wrong + [what for checker in checkers for what in checker.wrong]
        table["clusters"] += len(checkers)
        table["right"] += sum(checker.right for checker in checkers)
        table["unknown"] += sum(checker.unknown for checker in checkers)
        for cluster in program["clusters"]:
            kinds.update(access["kind"] for access in cluster["accesses"])
        if options.mutate:
            table["found" if wrong else "MISSED"] += 1
            bad += not wrong
            if not wrong:
                print(f"MISSED: {name}: {change}")
        elif wrong:
            table["WRONG"] += 1
            bad += 1
            print(f"WRONG: {name}: " + "; ".join(wrong))
        elif options.verbose:
            print(f"right: {name}: {sum(checker.right for checker in checkers)}, unknown {sum(checker.unknown for checker in checkers)}")
    print(", ".join(f"{count} {what}" for what, count in table.items()) + f", {errors} errors of norm-opt")
    print(", ".join(f"{count} {what}" for what, count in sorted(kinds.items())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
