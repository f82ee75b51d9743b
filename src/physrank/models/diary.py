"""What a monitor has seen and kept, on disk: whole after every epoch, so that a killed training goes on from there."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from physrank._io import write_json, write_text


class Diary:
    """`monitor.json` is the truth, `history.csv` a copy of its records; weights lie beside them."""

    def __init__(self, folder: Path, panel: str):
        self.folder, self.panel = folder, panel
        self.history: list[dict[str, Any]] = []
        self.kept: list[int] = []  # best first
        self.written: set[int] = set()  # epochs whose weights this monitor has left in the folder
        self.path = folder / "monitor.json"
        if self.path.exists():
            self._read()

    def weights(self, epoch: int) -> Path:
        return self.folder / f"epoch{epoch}.safetensors"

    def forget_from(self, epoch: int) -> None:
        """Records of this epoch and later ones, which are about to be made anew."""
        self.history = [record for record in self.history if record["epoch"] < epoch]
        self.kept = [kept for kept in self.kept if kept < epoch]

    def write(self, kept: list[int], record: dict[str, Any]) -> None:
        """Weights are there already; what is no longer kept goes last, so that no record names a file that is missing."""
        self.kept, self.history = kept, [*self.history, record]
        write_json(self.path, {"panel": self.panel, "kept": kept, "history": self.history})
        columns = list(dict.fromkeys(key for seen in self.history for key in seen))
        text = io.StringIO()
        table = csv.DictWriter(text, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(self.history)
        write_text(self.folder / "history.csv", text.getvalue())
        self.written |= set(kept)
        for epoch in self.written - set(kept):
            self.weights(epoch).unlink(missing_ok=True)
        self.written = set(kept)

    def _read(self) -> None:
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            panel, self.kept, self.history = stored["panel"], list(stored["kept"]), list(stored["history"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{self.path} is not a monitor's diary ({error!r}). Give the monitor another folder."
            ) from None
        self.written = {record["epoch"] for record in self.history if record["kept"]}
        if panel != self.panel:
            raise ValueError(
                f"{self.folder} belongs to a monitor with other problems: its scores cannot be compared with these. Give "
                "this one another folder, or the problems of that one."
            )
