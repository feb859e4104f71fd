"""A small Iceberg REST catalog for tests: HTTP here, everything else Iceberg's own handlers.

Iceberg's runtime jar has what a REST catalog answers with (`CatalogHandlers`), only no
server around it. This one keeps its tables in a `hadoop` catalog, one request at a time, and
checks the requirements of a commit as the specification says. It can lose an answer: the
commit is done, and the connection is cut.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

STATUS_OF = {
    "NoSuchNamespaceException": 404,
    "NoSuchTableException": 404,
    "AlreadyExistsException": 409,
    "CommitFailedException": 409,
    "ValidationException": 400,
}
REQUESTS = "org.apache.iceberg.rest.requests."
TABLE_DEPTH = 5
"""v1, namespaces, the namespace, tables, the table."""
Answer = tuple[int, Any]


class RestCatalog:
    """The server; `uri` is where it listens until `close`."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._java: Any = spark._jvm
        context: Any = spark.sparkContext
        self._gateway: Any = context._gateway
        self._iceberg: Any = self._java.org.apache.iceberg
        conf = context._jsc.hadoopConfiguration()
        self._catalog: Any = self._iceberg.hadoop.HadoopCatalog(conf, folder)
        self._mapper: Any = self._iceberg_mapper()
        self._one_at_a_time = Lock()
        self.lose_answers = 0
        """How many of the next commits are done without telling."""
        self.meanwhile: Callable[[], object] | None = None
        """What happens, once, before the next commit is looked at."""
        self.refused = 0
        """How many commits have met another one."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.uri = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: list[str], body: str) -> Answer:
        """What a request gets: a status, 0 for none at all, and a Java object or nothing."""
        meanwhile = self.meanwhile
        if (
            meanwhile is not None
            and method == "POST"
            and path[3:4] == ["tables"]
            and len(path) == TABLE_DEPTH
        ):
            self.meanwhile = None
            meanwhile()
        with self._one_at_a_time:
            try:
                return self._answer(method, path, body)
            except Py4JJavaError as error:
                thrown = error.java_exception
                kind, message = str(thrown.getClass().getSimpleName()), str(thrown.getMessage())
                status = STATUS_OF.get(kind, 500)
                self.refused += kind == "CommitFailedException"
                return status, {"error": {"message": message, "type": kind, "code": status}}

    def _answer(self, method: str, path: list[str], body: str) -> Answer:
        handlers: Any = self._iceberg.rest.CatalogHandlers
        match method, path:
            case "GET", ["v1", "config"]:
                return 200, {"defaults": {}, "overrides": {}}
            case "GET", ["v1", "namespaces"]:
                return 200, handlers.listNamespaces(self._catalog, self._namespace())
            case "POST", ["v1", "namespaces"]:
                return 200, handlers.createNamespace(
                    self._catalog, self._read(body, "CreateNamespaceRequest")
                )
            case "GET", ["v1", "namespaces", space]:
                return 200, handlers.loadNamespace(self._catalog, self._namespace(space))
            case "GET", ["v1", "namespaces", space, "tables"]:
                return 200, handlers.listTables(self._catalog, self._namespace(space))
            case "POST", ["v1", "namespaces", space, "tables"]:
                request = self._read(body, "CreateTableRequest")
                create = handlers.stageTableCreate if request.stageCreate() else handlers.createTable
                return 200, create(self._catalog, self._namespace(space), request)
            case "GET", ["v1", "namespaces", space, "tables", name]:
                return 200, handlers.loadTable(self._catalog, self._table(space, name))
            case "POST", ["v1", "namespaces", space, "tables", name]:
                request = self._read(body, "UpdateTableRequest")
                done = handlers.updateTable(self._catalog, self._table(space, name), request)
                if self.lose_answers:
                    self.lose_answers -= 1
                    return 0, None
                return 200, done
            case "DELETE", ["v1", "namespaces", space, "tables", name]:
                handlers.purgeTable(self._catalog, self._table(space, name))
                return 204, None
            case _:
                return 404, {"error": {"message": "/".join(path), "type": "NotFoundException", "code": 404}}

    def text(self, answer: Any) -> bytes:
        """An answer as JSON."""
        if isinstance(answer, dict):
            return json.dumps(answer).encode()
        return str(self._mapper.writeValueAsString(answer)).encode()

    def _read(self, body: str, kind: str) -> Any:
        return self._mapper.readValue(body, self._java.java.lang.Class.forName(REQUESTS + kind))

    def _namespace(self, *names: str) -> Any:
        array = self._gateway.new_array(self._java.java.lang.String, len(names))
        for number, name in enumerate(names):
            array[number] = name
        return self._iceberg.catalog.Namespace.of(array)

    def _table(self, space: str, name: str) -> Any:
        return self._iceberg.catalog.TableIdentifier.of(self._namespace(space), name)

    def _iceberg_mapper(self) -> Any:
        """Iceberg's own JSON, which it keeps to its package."""
        lang: Any = self._java.java.lang
        kind = lang.Class.forName("org.apache.iceberg.rest.RESTObjectMapper")
        method = kind.getDeclaredMethod("mapper", self._gateway.new_array(lang.Class, 0))
        method.setAccessible(True)
        return method.invoke(None, self._gateway.new_array(lang.Object, 0))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        catalog = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                path = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
                status, answer = catalog.answer(self.command, path, body)
                if not status:
                    self.close_connection = True
                    return
                content = b"" if answer is None else catalog.text(answer)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                with suppress(BrokenPipeError):
                    self.wfile.write(content)

            def do_GET(self) -> None:
                self._serve()

            def do_POST(self) -> None:
                self._serve()

            def do_DELETE(self) -> None:
                self._serve()

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        return Handler
