# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile with our kernels for norms and what is row-wise around them; Inductor compiles the rest.

    model = torch.compile(model, backend="rmsnorm")

A pass over each graph finds what becomes a kernel (regions.py, linalg.py), has it compiled and puts a call in its place (kernels.py).
It never fails: what goes wrong leaves nodes to Inductor, and `report()` says so.
"""
import concurrent.futures
import dataclasses
import hashlib
import operator
import os
import pathlib
import time
import typing

import torch

from . import kernels, linalg, regions

_ROUNDINGS, _ROW_WISE = ("exact", "fewer"), ("none", "norms", "all")


@dataclasses.dataclass
class Left:
    """Nodes that stayed Inductor's: the first one's name, the line of Python that it comes from, and why."""

    node: str
    line: str
    reason: str

    def __str__(self):
        return f"{self.node}{f' ({self.line})' if self.line else ''}: {self.reason}"


@dataclasses.dataclass
class Graph:
    """What was done with a graph: the norms that the compiler found in it, the calls (for each the number of its nodes and of its
    launches), the graph's nodes, what was left, whether something failed that may work the next time, and the seconds that the pass
    took."""

    norms: int = 0
    calls: typing.List[typing.Tuple[int, int]] = dataclasses.field(default_factory=list)
    nodes: int = 0
    left: typing.List[Left] = dataclasses.field(default_factory=list)
    has_failed: bool = False
    seconds: float = 0.0

    def __str__(self):
        taken, launches = sum(n for n, _ in self.calls), sum(n for _, n in self.calls)
        head = f"{self.norms} norms; {taken} of {self.nodes} nodes in {len(self.calls)} calls, {launches} launches"
        return "\n  ".join([head, *map(str, self.left)])


_graphs = []


def report():
    """A Graph for each graph that was compiled in this process; printed, a line each and one for whatever was left."""
    return Report(_graphs)


class Report(list):
    def __repr__(self):
        return "\n".join(map(str, self)) or "no graph was compiled in this process; Inductor may have kept those of earlier ones"


#===--- The pass ----------------------------------------------------------===#


def _find_line(node):
    trace = (node.meta.get("stack_trace") or "").strip().splitlines()
    places = [line.strip() for line in trace if line.strip().startswith("File ")]
    if not places:
        return ""
    file, _, rest = places[-1].removeprefix('File "').partition('", line ')
    return f"{os.path.basename(file)}:{rest.partition(',')[0]}"


class Pass:
    """Over the graph that Inductor is about to compile."""

    def __init__(self, roundings, row_wise, target):
        for name, given, known in (("roundings", roundings, _ROUNDINGS), ("row_wise", row_wise, _ROW_WISE)):
            if given not in known:
                raise ValueError(f"{name}: expected one of {', '.join(map(repr, known))}, got {given!r}")
        if not isinstance(target, str):
            raise ValueError(f"target: expected a text, as \"native\", got {target!r}")
        self.roundings, self.row_wise, self.target = roundings, row_wise, target

    def uuid(self):
        """What code that Inductor keeps depends on."""
        try:
            compiler, failures = kernels.identify_compiler(), kernels.list_failures()
        except OSError:
            compiler = failures = ""
        sources = "".join(path.read_text() for path in sorted(pathlib.Path(__file__).parent.glob("*.py")))
        # And on where the kernels that it names are.
        facts = (self.roundings, self.row_wise, self.target, compiler, failures, sources, str(kernels.find_cache()))
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    def __call__(self, graph):
        start, made = time.perf_counter(), Graph(nodes=sum(n.op == "call_function" for n in graph.nodes))
        try:
            self._run(graph, made)
        except Exception as error:  # ours: the graph is as it was, or valid with what was replaced
            made.left.append(Left("all", "", f"{type(error).__name__}: {error}"))
            made.has_failed |= isinstance(error, kernels.Failed)
        if made.has_failed:
            self._mark_temporary(graph)
        made.seconds = time.perf_counter() - start
        _graphs.append(made)

    def _run(self, graph, made):
        options = [f"--raise={self.roundings}", f"--row-wise={self.row_wise}"]
        refused, stores = set(), linalg.find_stores(graph)
        while True:
            text, written, unwritten = linalg.emit_graph(graph, stores, lambda node: node.name not in refused and self._is_here(node))
            try:
                proposed = kernels.outline(text, options)
                break
            except kernels.Refused as error:  # a node whose text is none costs that node
                names = error.names & {node.name for node in written}
                if not names:
                    raise
                refused |= names
                made.left += [Left(name, "", error.messages[0]) for name in names]
        found = regions.Regions(graph, stores)
        made.norms = found.propose(proposed, written)
        # Stores alone are Inductor's.
        calls = [] if stores and not made.norms and self.row_wise != "all" else found.join()
        with concurrent.futures.ThreadPoolExecutor() as pool:  # for the compiler's processes
            compiled = list(pool.map(lambda call: self._compile_apart(found, call, made), calls))
        # Users of a call's results may stand in front of it until all are sorted.
        taken, replaced = set(), {}
        for region in [region for part in compiled for region in part]:
            try:
                self._replace(graph, region, made, replaced, stores)
                taken.update(region[1])
            except Exception as error:
                self._leave(made, found, [n.name for n in region[1]], f"{type(error).__name__}: {error}")
        torch._inductor.fx_passes.post_grad.stable_topological_sort(graph)
        for refusal in proposed["refusals"]:
            names = [n for n in refusal["location"] if n in found.by_name]
            if all(found.by_name[n] in written - taken for n in names):
                self._leave(made, found, names, f"{refusal['what']} {refusal['reason']}")
        more = "" if self.row_wise == "all" else '; row_wise="all" takes other reductions of rows'
        for root, (node, reason) in found.find_unraised(unwritten).items():
            if root not in taken and root not in found.holders:
                shown = node if _find_line(node) else root  # others than Inductor's own have a line
                self._leave(made, found, [shown.name], reason or f"the compiler sees no RMSNorm here{more}")
        graph.eliminate_dead_code()

    @staticmethod
    def _mark_temporary(graph):
        """Inductor keeps the graph's code; no other process takes that."""
        device = next((n.meta["val"].device for n in graph.nodes if linalg.is_tensor(n)), torch.device("cpu"))
        with graph.inserting_before(graph.output_node()):
            graph.call_function(kernels.mark_temporary, (device, kernels.make_temporary())).meta["val"] = None

    def _is_here(self, node):
        """Whether all tensors are where kernels of the target run."""
        values = [n.meta.get("val") for n in (node, *node.all_input_nodes)]
        tensors = [t for v in values for t in (v if isinstance(v, (tuple, list)) else [v]) if isinstance(t, torch.Tensor)]
        return all(t.device.type == ("cpu" if self.target.startswith("sim") else "cuda") for t in tensors)

    @staticmethod
    def _leave(made, found, names, reason):
        node = found.by_name[names[0]] if names else None
        made.left.append(Left(node.name if node else "?", _find_line(node) if node else "", reason))

    def _compile_apart(self, found, parts, made):
        """Regions together, or each alone if the compiler refuses that."""
        if len(parts) > 1:
            whole = self._compile(found, set().union(*parts), made, is_last=False)
            if whole:
                return [whole]
        return [c for c in (self._compile(found, part, made, is_last=True) for part in parts) if c]

    def _compile(self, found, region, made, is_last):
        """(key, nodes, inputs, outputs, text), or None. What the compiler refuses goes, with all that needs it."""
        left, stacks_here = set(), True  # one only grows, the other one is tried once: this ends
        while region := found.close(region - left, left):
            cut = found.find_cut(region)
            if cut is not None:
                if is_last:
                    self._leave(made, found, [cut.name], "it needs what other work computes from the kernel that it is next to")
                left |= region - found.without(region, [cut])
                continue
            stacks = found.find_stacks(region) if stacks_here else {}
            nodes, inputs, outputs = found.boundary(region.union(*stacks.values()), stacks.keys())
            if not outputs:
                self._leave(made, found, [n.name for n in nodes], "nobody needs what it computes")
                return None
            if found.is_worse(region, inputs, outputs):
                if is_last:
                    self._leave(made, found, [n.name for n in nodes], "Inductor moves fewer bytes with what is around it in one kernel")
                return None
            try:
                text = linalg.Region(nodes, inputs, outputs, "region", stacks.keys())
                return kernels.compile_region(text.text, [f"--raise={self.roundings}"], self.target), nodes, inputs, outputs, text
            except linalg.Unsupported as error:
                names, reason = set(), str(error)
            except kernels.Refused as error:
                names, reason = error.names, error.messages[0]
            except kernels.Failed as error:
                made.has_failed = True
                self._leave(made, found, [n.name for n in nodes], str(error))
                return None
            if stacks:
                stacks_here = False
                continue
            if not is_last:
                return None
            culprits = [n for n in nodes if n.name in names]
            self._leave(made, found, [n.name for n in culprits or nodes], reason)
            if not culprits:
                return None
            left |= region - found.without(region, culprits)
        return None

    def _replace(self, graph, compiled, made, replaced, stores):
        """`replaced`: of nodes that others have replaced what stands for them. The graph changes only if all of it can."""
        key, nodes, inputs, outputs, text = compiled
        inputs = [replaced.get(node, node) for node in inputs]
        lying = [self._plan(node, lies) for node, lies in zip(inputs, text.input_orders)]
        count = len(inputs) - sum(node in stores for node in outputs)  # what stores change is at the end
        if any(step[0] is linalg.aten.clone.default for steps in lying[count:] for step in steps):
            raise AssertionError("expected places to store into, got copies of them")
        op = kernels.launch if count == len(inputs) else kernels.update
        pack = lambda given: (given, key) if op is kernels.launch else (given[:count], given[count:], key)
        values = op(*pack([steps[-1][2] if steps else node.meta["val"] for node, steps in zip(inputs, lying)]))
        shaping = [self._shape(*planned) for planned in zip(outputs, values, text.orders, text.shapes)]

        order = {node: i for i, node in enumerate(graph.nodes)}
        with graph.inserting_after(max(inputs, key=order.get)):
            call = graph.call_function(op, pack(list(inputs)))
        with graph.inserting_before(call):
            call.args = pack([self._append(graph, node, steps) for node, steps in zip(inputs, lying)])
        call.meta["val"] = values
        for i, (output, steps) in enumerate(zip(outputs, shaping)):
            made_of = self._append(graph, call, [(operator.getitem, (i,), values[i], {}), *steps], after=True)
            if output.target is linalg.aten.cat.default:
                made_of = self._append(graph, made_of, self._plan_stack(output, set(nodes)), after=True)
            made_of.meta.update({k: v for k, v in output.meta.items() if k not in made_of.meta})
            if output in stores:
                graph.erase_node(stores[output])
            output.replace_all_uses_with(made_of)
            replaced[output] = made_of
        made.calls.append((len(nodes), kernels.get_entry(key).launches))

    @staticmethod
    def _append(graph, node, steps, after=False):
        """The node that a row of steps (op, arguments after the first, value, named arguments) makes of a node."""
        for target, args, value, named in steps:
            if after:
                with graph.inserting_after(node):
                    node = graph.call_function(target, (node, *args), named)
            else:
                node = graph.call_function(target, (node, *args), named)
            node.meta["val"] = value
        return node

    @staticmethod
    def _plan(node, lies):
        """Steps to a tensor in the order that the kernel was compiled for, whose elements each have a place, side by side in the last
        dimension."""
        value, steps = node.meta["val"], []
        if lies != list(range(value.dim())):
            value = value.permute(lies)
            steps.append((linalg.aten.permute.default, (lies,), value, {}))
        if value.dim() and (value.shape[-1] != 1 and value.stride(-1) != 1 or any(s == 0 for s in value.stride())):
            value = torch.empty_like(value, memory_format=torch.contiguous_format)
            steps.append((linalg.aten.clone.default, (), value, {"memory_format": torch.contiguous_format}))
        return steps

    @staticmethod
    def _plan_stack(stack, nodes):
        """Steps that put into a concatenation what the kernel has not. What it has are its own nodes."""
        steps, at, dim = [], 0, (stack.args[1] if len(stack.args) > 1 else 0) % stack.meta["val"].dim()
        for part in stack.args[0]:
            end = at + part.meta["val"].shape[dim]
            if part not in nodes:
                steps.append((kernels.put, (part, dim, at, end), stack.meta["val"], {}))
            at = end
        return steps

    @staticmethod
    def _shape(output, value, lies, shape):
        """Steps from a result to the tensor that the graph has."""
        steps, expected = [], output.meta["val"]
        if lies != list(range(len(lies))):
            back = [lies.index(k) for k in range(len(lies))]
            value = value.permute(back)
            steps.append((linalg.aten.permute.default, (back,), value, {}))
        if shape is not None:
            value = value.view(expected.shape)
            steps.append((linalg.aten.view.default, (shape,), value, {}))
        if value.shape != expected.shape or value.dtype != expected.dtype:
            raise AssertionError(f"{output.name}: expected {expected.shape} of {expected.dtype}, got {value.shape} of {value.dtype}")
        return steps


#===--- Backends ----------------------------------------------------------===#


def _check_version():
    """PyTorch hands tensors to C++ by functions that it has since 2.10, and 2.9 by a package."""
    version = tuple(map(int, torch.__version__.split(".")[:2]))
    if version < (2, 9) or version < (2, 10) and not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        raise RuntimeError(f"rmsnorm: expected PyTorch 2.10 or newer, or 2.9 with torch-c-dlpack-ext (pip install torch-c-dlpack-ext), got "
                           f"{torch.__version__}{' without it' if version == (2, 9) else ''}")


def _make_pass(roundings, row_wise, target):
    _check_version()
    from torch._inductor.custom_graph_pass import CustomGraphPass

    kernels.register_lowering()
    return type("RMSNormPass", (Pass, CustomGraphPass), {})(roundings, row_wise, target)


def enable(roundings="exact", row_wise="norms", target="native"):
    """Makes Inductor use our kernels from now on, in all that torch.compile compiles with it.

    `roundings`: of a gradient those that the program has ("exact"), or only those of its operands and results ("fewer"), which is nearer
    to the gradient in f32 and takes more of them. `row_wise`: the other reductions of rows that begin kernels: "none", those of "norms"
    in a graph that has an RMSNorm, or "all", softmaxes, too. `target`: as for rmsnorm.compile."""
    from torch._inductor import config

    made, there = _make_pass(roundings, row_wise, target), config.post_grad_custom_pre_pass
    config.post_grad_custom_pre_pass = made if there is None or isinstance(there, Pass) else _after(there, made)


def _after(first, second):
    """Both passes, one after the other."""
    from torch._inductor.custom_graph_pass import CustomGraphPass

    class Both(CustomGraphPass):
        def __call__(self, graph):
            first(graph)
            second(graph)

        def uuid(self):
            return (first.uuid(), second.uuid())

    return Both()


def backend(module, inputs, *, mode=None, options=None, **ours):
    """torch.compile(model, backend="rmsnorm", options={"roundings": "fewer", ...}): options of `enable`, and of Inductor."""
    from torch._inductor import list_mode_options
    from torch._inductor.compile_fx import compile_fx

    given = dict(options or {})
    ours = {name: given.pop(name) for name in ("roundings", "row_wise", "target") if name in given}
    made = _make_pass(**{"roundings": "exact", "row_wise": "norms", "target": "native", **ours})
    patches = dict(list_mode_options(mode)) if mode else {}
    return compile_fx(module, inputs, config_patches={**patches, **given, "post_grad_custom_pre_pass": made})


def _reset():
    """torch.compiler.reset() gives back what CUDA graphs hold."""
    from torch._inductor.cudagraph_trees import reset_cudagraph_trees

    if torch.cuda.is_available():
        reset_cudagraph_trees()


backend.reset = _reset
