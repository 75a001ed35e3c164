# A small application: repository, validation, JSON storage, error reporting.
import json
import logging
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s", level=logging.INFO)
@dataclass
class Product:
    sku: str
    price: float
    stock: int = 0
    def __post_init__(self):
        if self.price < 0:
            raise ValueError(f"{self.sku}: price must not be negative")
class Store:
    def __init__(self, path):
        self.path = Path(path)
        self.items = {}
        if self.path.exists():
            self.items = {row["sku"]: Product(**row) for row in json.loads(self.path.read_text())}
    def add(self, product):
        if product.sku in self.items:
            logging.warning("replacing %s", product.sku)
        self.items[product.sku] = product
        return self
    def save(self):
        self.path.write_text(json.dumps([asdict(p) for p in self.items.values()], indent=2))
    @property
    def value(self):
        return sum(p.price * p.stock for p in self.items.values())
store = Store("store.json").add(Product("a1", 2.5, 10)).add(Product("b2", 7.0)).add(Product("a1", 3.0, 4))
store.save()
again = Store("store.json")
print(again.value, sorted(again.items), again.items["b2"])
try:
    again.add(Product("c", -1))
except ValueError as error:
    logging.error(error)
