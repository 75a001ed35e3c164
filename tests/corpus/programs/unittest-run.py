# unittest: cases, fixtures, subtests, mocks, a run inside the program.
import io
import unittest
from unittest import mock
def divide(a, b):
    return a / b
class Service:
    def fetch(self):
        raise RuntimeError("no network")
    def total(self):
        return sum(self.fetch())
class DivideTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = [1]
    def setUp(self):
        self.values = {"a": 6}
    def test_works(self):
        self.assertEqual(divide(self.values["a"], 3), 2)
        self.assertAlmostEqual(divide(1, 3), 0.3333, places=3)
    def test_raises(self):
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            divide(1, 0)
    def test_many(self):
        for n in (1, 2, 3):
            with self.subTest(n=n):
                self.assertIn(n, [1, 2, 3])
    @unittest.skip("not now")
    def test_skipped(self):
        self.fail()
    @unittest.expectedFailure
    def test_expected(self):
        self.assertTrue(False)
    def test_fails(self):
        self.assertEqual([1, 2], [1, 3])
    def test_mock(self):
        with mock.patch.object(Service, "fetch", return_value=[1, 2]) as fetch:
            self.assertEqual(Service().total(), 3)
            fetch.assert_called_once_with()
        thing = mock.MagicMock(side_effect=[1, KeyError])
        self.assertEqual(thing(5), 1)
        self.assertRaises(KeyError, thing)
        self.assertEqual(thing.call_args_list, [mock.call(5), mock.call()])
stream = io.StringIO()
result = unittest.TextTestRunner(stream=stream, verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(DivideTest))
print(result.testsRun, len(result.failures), len(result.errors), len(result.skipped), len(result.expectedFailures), result.wasSuccessful())
print([line for line in stream.getvalue().splitlines() if line.startswith("test_") and "..." in line])
print("AssertionError: Lists differ: [1, 2] != [1, 3]" in stream.getvalue())
