# A small simulation with classes, as models like to write.
import random
from collections import Counter
class InsufficientFunds(Exception):
    """Raised when a withdrawal exceeds the balance."""
class Account:
    interest = 0.02
    def __init__(self, owner, balance=0.0):
        self.owner, self.__balance, self._history = owner, balance, []
    @property
    def balance(self):
        return self.__balance
    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("Deposit must be positive")
        self.__balance += amount
        self._history.append(("deposit", amount))
    def withdraw(self, amount):
        if amount > self.__balance:
            raise InsufficientFunds(f"{self.owner} has only {self.__balance:.2f}")
        self.__balance -= amount
        self._history.append(("withdraw", amount))
    def __str__(self):
        return f"{self.owner}: {self.balance:.2f}"
random.seed(1)
accounts = [Account(name, 100) for name in ("Ann", "Bob")]
errors = Counter()
for _ in range(20):
    account = random.choice(accounts)
    try:
        random.choice([account.deposit, account.withdraw])(random.randint(-5, 90))
    except (ValueError, InsufficientFunds) as error:
        errors[type(error).__name__] += 1
print(*accounts, dict(errors), len(accounts[0]._history), accounts[0]._Account__balance == accounts[0].balance, sep="\n")
