"""What the type checker is given: what has changed, and what imports it."""

from tests.type_check import changed, imports, to_check

FILES = {
    "tidegate/a.py": b"X = 1\n",
    "tidegate/b/__init__.py": b"from tidegate import a\n",
    "tidegate/b/c.py": b"from tidegate.a import (\n    X,\n)\n",
    "tidegate/d.py": b"import tidegate.b.c\n",
    "tidegate/e.py": b"from tidegate.b import c\n",
}


def test_a_module_is_checked_with_all_that_import_it():
    assert to_check(FILES, ["tidegate/a.py"]) == {
        "tidegate/a.py",
        "tidegate/b/__init__.py",
        "tidegate/b/c.py",
    }
    assert to_check(FILES, ["tidegate/b/c.py"]) == {"tidegate/b/c.py", "tidegate/d.py", "tidegate/e.py"}
    assert to_check(FILES, []) == set()


def test_what_imports_a_module_that_was_removed_is_checked():
    assert to_check(FILES, ["tidegate/b/f.py", "tidegate/g.py"]) == set()
    without = {name: text for name, text in FILES.items() if name != "tidegate/a.py"}
    assert to_check(without, ["tidegate/a.py"]) == {"tidegate/b/__init__.py", "tidegate/b/c.py"}


def test_what_is_new_other_or_gone_has_changed():
    kept = {"tidegate/a.py": "1", "tidegate/b.py": "1", "tidegate/c.py": "1", "pyproject.toml": "1"}
    assert changed(kept, {"tidegate/a.py": "1", "tidegate/b.py": "2", "tidegate/d.py": "1"}) == {
        "tidegate/b.py",
        "tidegate/c.py",
        "tidegate/d.py",
    }


def test_an_import_inside_a_function_counts():
    assert imports("def f():\n    from tidegate.a import b\n") == {"tidegate.a", "tidegate.a.b"}
