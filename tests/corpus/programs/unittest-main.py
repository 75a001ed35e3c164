# unittest.main as a program ends with.
import unittest
class Case(unittest.TestCase):
    def test_one(self):
        self.assertDictEqual({"a": 1}, {"a": 1})
    def test_two(self):
        with self.assertLogs("x", "INFO") as logs:
            import logging
            logging.getLogger("x").info("hi")
        self.assertEqual(logs.output, ["INFO:x:hi"])
class AsyncCase(unittest.IsolatedAsyncioTestCase):
    async def test_three(self):
        self.assertIsNone(None)
if __name__ == "__main__":
    program = unittest.main(argv=["prog"], exit=False)
    print(program.result.testsRun, program.result.wasSuccessful())
