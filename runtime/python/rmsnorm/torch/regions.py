# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which nodes of a graph are one kernel.

The compiler proposes sets of nodes (norm-compile --outline): it sees the graph as one function of linalg, and names of nodes come back
as locations. What becomes a kernel is then written again from the graph's own nodes (linalg.Region). So a proposal can be a bad one, but
not a wrong one.
"""
import math
import operator

import torch

from . import linalg
from .linalg import aten, prims


def _count(node):
    """The elements of a tensor, of sizes as they were when the graph was made."""
    return math.prod(map(linalg.hint, node.meta["val"].shape)) if linalg.is_tensor(node) else 0


class Regions:
    """The nodes of a graph in their order."""

    def __init__(self, graph, stores=frozenset()):
        self.stores = stores
        self.nodes = list(graph.nodes)
        self.cats = {node for node in self.nodes if node.target is aten.cat.default}
        self.order = {node: i for i, node in enumerate(self.nodes)}
        self.by_name = {node.name: node for node in self.nodes}
        # Nodes that the compiler leaves to others, even if a kernel computes them, too; nodes that it has folded into others.
        self.rest, self.gone = set(), set()
        self.proposals, self.owner = [], {}  # of a node what no earlier proposal has of the first one with it
        self.holders = {}  # of a node the proposals with it, as bits of a number

    def sorted(self, nodes):
        return sorted(nodes, key=self.order.get)

    #===--- Proposals -----------------------------------------------------===#

    def propose(self, report, written):
        """Takes as proposals the members of each function of the report. `written`: the nodes that had text. The number of norms."""
        named = lambda op: {self.by_name[n] for n in op["location"] if n in self.by_name} & written
        proposals = [set().union(*map(named, function["members"])) for function in report["functions"]]
        self.rest = set().union(*map(named, report["rest"]))
        self.gone = {n for n in written.difference(self.rest, *proposals) if n.target not in linalg.MOVES}
        stored = set()
        for region in proposals:
            region.difference_update(stored)  # once
            stored |= region.intersection(self.stores)
            self._strip(region)
            region &= self.close(region)
        self.proposals = [region for region in proposals if region]
        for region in self.proposals:
            own = region.difference(self.owner)
            self.owner.update(dict.fromkeys(own, own))
        for i, region in enumerate(self.proposals):
            for node in region:
                self.holders[node] = self.holders.get(node, 0) | 1 << i
        # A norm may be computed for several users, each with a factor of its own.
        norms = (m for f in report["functions"] for m in f["members"] if m["op"].startswith("rmsnorm."))
        return sum(any(n.target in linalg.REDUCTIONS for n in named(norm)) for norm in norms)

    #===--- Closing -------------------------------------------------------===#

    def _reach(self, region, neighbours, without):
        found, work = set(), list(region)
        while work:
            for node in neighbours(work.pop()):
                if node not in found and node not in region | without and (node in self.gone or self._is_move(node)):
                    found.add(node)
                    work.append(node)
        return found

    def close(self, region, without=frozenset()):
        """With what only moves elements from members to members or was folded into them, with constants, and without what is moved
        for others only. `without`: nodes that stay outside."""
        region = set(region)
        before, after = (self._reach(region, neighbours, without) for neighbours in (lambda n: n.all_input_nodes, lambda n: n.users))
        region |= before & after
        # What was folded into what needs it.
        for node in sorted(before & self.gone, key=self.order.get, reverse=True):
            if region.issuperset(node.users):
                region.add(node)
        for node in list(region):
            region.update(n for n in node.all_input_nodes if n.target is aten.full.default and n not in without)
            if isinstance(node.meta.get("val"), (tuple, list)):
                region.update(user for user in node.users if user.target is operator.getitem)
        self._strip(region)
        self._strip_tables(region)
        return region

    def _strip_tables(self, region):
        """Takes out what needs nothing of the rows, is repeated for them and is needed by others, too: a row of cosines that all layers
        rotate by. They would wait for this kernel."""
        free, tables = set(), set()
        for node in self.sorted(region):
            if node.target is not aten.full.default and node not in self.stores and all(
                    _count(n) <= _count(node) and (n in free or n not in region) for n in node.all_input_nodes):
                free.add(node)
        for node in reversed(self.sorted(free)):
            if all(n in tables or n not in region or _count(n) > _count(node) for n in node.users):
                tables.add(node)
        work = [n for n in tables if not region.issuperset(n.users)]
        while work:
            node = work.pop()
            region.discard(node)
            work += [n for n in node.all_input_nodes if n in region and n in tables]

    def _strip(self, region):
        """Takes out what is moved for others only."""
        while ends := {n for n in region if self._is_move(n) and not any(user in region for user in n.users)}:
            region -= ends

    @staticmethod
    def _is_move(node):
        return node.op == "call_function" and node.target in linalg.MOVES and not (
            node.target is operator.getitem and node.args[0].target not in linalg.MOVES)

    def find_cut(self, region):
        """A member that needs what is computed outside from another member, or None: such a region is no one kernel."""
        places = [self.order[n] for n in region]
        tainted, sources = set(), {n for n in region if not self._is_elsewhere(n, region)}
        for node in self.nodes[min(places):max(places) + 1]:
            needs = node.all_input_nodes
            if node in region:
                if any(n in tainted for n in needs):
                    return node
            elif any(n in sources or n in tainted for n in needs):
                tainted.add(node)
        return None

    def without(self, region, nodes):
        """Without these, and all that follow or all that lead to them: the fewer."""
        sides = []
        for neighbours in (lambda n: n.users, lambda n: n.all_input_nodes):
            side, work = set(nodes), list(nodes)
            while work:
                for node in neighbours(work.pop()):
                    if node in region and node not in side:
                        side.add(node)
                        work.append(node)
            sides.append(side)
        return region - min(sides, key=len)

    def find_unraised(self, unwritten):
        """Roots of what is summed, as norms have them, and for each the node because of which it is no norm to the compiler, and why
        that is so. `unwritten`: of nodes why they have no text."""
        found = {}
        for root in (n for n in self.nodes if n.target in linalg.ROOTS):
            chain, sums = self._find_chain(root)
            chain.update(sums)
            reasons = ((node, unwritten.get(node) or self._find_reason(node, chain)) for node in self.sorted(chain))
            if sums:
                found[root] = next((r for r in reasons if r[1]), (root, None))
        return found

    @staticmethod
    def _find_chain(root):
        """The nodes between a root and the reductions in front of it, and those."""
        users, sums, work = {}, [], [root]
        while work:
            node = work.pop()
            for n in node.all_input_nodes:
                if n not in users and n.target in linalg.REDUCTIONS:
                    sums.append(n)
                elif n not in users and n.target in linalg.ELEMENTWISE | linalg.MOVES:
                    work.append(n)
                users.setdefault(n, []).append(node)
        chain, work = set(), list(sums)
        while work:
            ahead = [n for n in users.get(work.pop(), ()) if n not in chain]
            chain.update(ahead)
            work += ahead
        return chain, sums

    @staticmethod
    def _find_reason(node, chain):
        value = node.meta.get("val")
        if any(isinstance(v, torch.Tensor) and v.dtype is torch.float64 for v in (value if isinstance(value, (tuple, list)) else [value])):
            return "kernels compute nothing in f64"
        if node.target not in linalg.REDUCTIONS and any(n not in chain and n.target is not aten.full.default for n in node.all_input_nodes):
            return "an operand is no constant, as eps is that dynamic=True makes an argument"
        return None

    #===--- What goes in and out ------------------------------------------===#

    def _is_elsewhere(self, node, region):
        """Whether others have a member without this kernel: a constant, what the compiler leaves to them, what it computes in an
        earlier kernel, too."""
        others = self.owner.get(node, set()) - {node}
        return node.target is aten.full.default or node in self.rest or bool(others) and region.isdisjoint(others)

    def _needs(self, user, node):
        """Whether a user outside of a kernel needs a member of it; a kernel that computes that, too, does not."""
        return not self.holders.get(user, 0) & self.holders.get(node, 0)

    def _is_left(self, node, region):
        """What others compute themselves: what they have elsewhere, a view, a wider copy of an input."""
        if self._is_elsewhere(node, region) or node.target in linalg.VIEWS:
            return True
        if node.target is not prims.convert_element_type.default:
            return False
        source = node.args[0]
        return source not in region and node.meta["val"].dtype.itemsize > source.meta["val"].dtype.itemsize

    def boundary(self, region, stacks=frozenset()):
        """The nodes in their order, the tensors that go in, at the end those that stores change, and those that others need, stores
        first. `stacks`: members that lack what others put there."""
        nodes = self.sorted(region)
        outputs, kept = [], set()
        for node in reversed(nodes):
            if linalg.is_tensor(node) and any(
                    user in kept or user not in region and self._needs(user, node) for user in node.users):
                if node not in stacks and self._is_left(node, region):
                    kept.add(node)
                else:
                    outputs.insert(0, node)
        inputs, stored = self._find_inputs(nodes, region, stacks), [n for n in outputs if n in self.stores]
        caches = [n.args[0] for n in stored]
        return nodes, [n for n in inputs if n not in caches] + caches, stored + [n for n in outputs if n not in stored]

    @staticmethod
    def _find_inputs(nodes, region, stacks=frozenset()):
        return list(dict.fromkeys(
            n for node in nodes if node not in stacks for n in node.all_input_nodes if n not in region and linalg.is_tensor(n)))

    def find_stacks(self, region):
        """Concatenations of what the region computes, and the views between: gradients of q and k, next to that of v, which others
        put into its place then. Of each the nodes."""
        found = {}
        for node in self.sorted(self.cats - region):
            parts, nodes = 0, {node}
            for part in node.args[0]:
                chain = [part]
                while chain[-1] not in region and chain[-1].target in linalg.VIEWS | {aten.clone.default} and len(chain[-1].users) == 1:
                    chain.append(chain[-1].args[0])
                if chain[-1] in region and len(part.users) == len(chain[-1].users) == 1:
                    parts, nodes = parts + 1, nodes | set(chain)
                elif self._root(part) in self.holders or part in region or part.meta["val"].dtype != node.meta["val"].dtype:
                    parts = 0
                    break
            dim = node.args[1] if len(node.args) > 1 else 0
            if parts and all(linalg.is_static(part.meta["val"].shape[dim]) for part in node.args[0]):
                found[node] = nodes
        return found

    #===--- What a region costs -------------------------------------------===#

    def is_worse(self, region, inputs, outputs):
        """Whether a region splits more than it may. What an elementwise op outside computes for it alone, or only such ops need of it,
        Inductor would keep in registers if the members were its own; here it is written and read. That may be as many bytes as go in
        and out anyway, as Inductor need not have all of it in one kernel, and no more."""
        rows = lambda node: [str(size) for size in node.meta["val"].shape[:-1]]  # a comparison of sizes that change would fix them
        is_near = lambda user, node: user.target in linalg.ELEMENTWISE and (
            user not in self.holders or self.holders[user] & self.holders.get(node, 0) != 0) and all(
                rows(n) == rows(user) for n in user.all_input_nodes if n in region)  # a sum of all rows is known later
        split = [n for n in outputs if all(user in region or is_near(user, n) for user in n.users)]
        for n in inputs:
            root = self._root(n)
            if root.target in linalg.ELEMENTWISE and region.issuperset(n.users) and (n is root or len(root.users) == 1) and any(
                    is_near(root, user) for user in n.users):
                split.append(n)
        caches = {n.args[0] for n in outputs if n in self.stores}
        rows_of = lambda n: n.args[2] if n in self.stores else n  # what a store writes
        size = lambda nodes: sum(_count(rows_of(n)) * n.meta["val"].dtype.itemsize for n in nodes if n not in caches)
        return 2 * size(split) > size(inputs) + size(outputs) - size(split)

    #===--- Several kernels in one call -----------------------------------===#

    @staticmethod
    def _root(node):
        while node.op == "call_function" and (node.target in linalg.VIEWS or node.target is operator.getitem):
            node = node.args[0]
        return node

    def _reads(self, region):
        """The tensors that go in, and those that others made them of: q and k are two products of one tensor."""
        roots = {self._root(n) for n in self._find_inputs(region, region)}
        return roots | {self._root(n) for root in roots for n in root.all_input_nodes if n.op == "call_function"}

    def _find_needs(self):
        """For each proposal those that it needs, itself or by work outside of both, as bits."""
        holders = {}
        for i, region in enumerate(self.proposals):
            for node in region:
                if not self._is_elsewhere(node, region):
                    holders[node] = holders.get(node, 0) | 1 << i
        near, far, needs = {}, {}, [0] * len(self.proposals)  # of a node those that views or nothing lie behind, and others
        for node in self.nodes:
            own, above, beyond = holders.get(node, 0), 0, 0
            for n in node.all_input_nodes:
                above, beyond = above | near[n], beyond | far[n]
            is_move = self._is_move(node) or node in self.gone
            near[node] = own | above if is_move else own
            far[node] = beyond if is_move else beyond | above & ~own
            held = self.holders.get(node, 0)
            while held:
                needs[held.bit_length() - 1] |= far[node]
                held ^= 1 << held.bit_length() - 1
        return needs

    def join(self):
        """Lists of proposals, each list a call: they read the same tensor or what others made of it, or have members in common, and
        none needs another one."""
        needs, calls = self._find_needs(), []
        for i, region in enumerate(self.proposals):
            reads = self._reads(region)
            for call in calls:
                is_apart = not any(n in call.nodes for node in region for n in (*node.all_input_nodes, *node.users))
                if region.isdisjoint(call.nodes) and not (
                        is_apart and reads & call.reads and not needs[i] & call.bits and not call.needs >> i & 1):
                    continue
                if self.find_cut(self.close(call.nodes | region)) is None:
                    call.add(i, region, reads, needs[i])
                    break
            else:
                calls.append(_Call())
                calls[-1].add(i, region, reads, needs[i])
        return [call.parts for call in calls]


class _Call:
    """Proposals: their nodes, what they read, and as bits which they are and which they need."""

    def __init__(self):
        self.parts, self.nodes, self.reads, self.bits, self.needs = [], set(), set(), 0, 0

    def add(self, i, region, reads, needs):
        self.parts.append(region)
        self.nodes |= region
        self.reads |= reads
        self.bits |= 1 << i
        self.needs |= needs
