"""Groups and ways in a directed graph, for the rules against cycles.

A graph maps each node to the nodes to which its edges lead.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def strong_groups(graph: Mapping[N, Iterable[N]]) -> list[list[N]]:
    """Return the strongly connected components (Tarjan), without recursion: apps may be large."""
    index: dict[N, int] = {}
    low: dict[N, int] = {}
    on_stack: set[N] = set()
    stack: list[N] = []
    groups: list[list[N]] = []
    for root in graph:
        if root in index:
            continue
        work: list[tuple[N, Iterator[N]]] = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, coming = work[-1]
            following = next(coming, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    groups.append(_unwind(stack, on_stack, node))
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(graph[following])))
            elif following in on_stack:
                low[node] = min(low[node], index[following])
    return groups


def _unwind(stack: list[N], on_stack: set[N], until: N) -> list[N]:
    group: list[N] = []
    while True:
        node = stack.pop()
        on_stack.discard(node)
        group.append(node)
        if node == until:
            return group


def way_back(start: N, graph: Mapping[N, Iterable[N]]) -> tuple[N, ...]:
    """Return the shortest way from a node of a cycle back to itself, without the second `start`."""
    before: dict[N, N] = {}
    coming = deque([start])
    while True:
        node = coming.popleft()
        for following in graph[node]:
            if following == start:
                path = [node]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return tuple(reversed(path))
            if following not in before:
                before[following] = node
                coming.append(following)
