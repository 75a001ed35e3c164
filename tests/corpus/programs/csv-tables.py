# csv: readers, writers, dialects.
import csv
import io
with open("people.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, ["name", "age", "note"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows([{"name": "Ann", "age": 30, "note": 'says "hi", twice'}, {"name": "Bob", "age": 25, "note": "line\nbreak", "x": 1}])
print(open("people.csv", newline="").read())
with open("people.csv", newline="") as file:
    rows = list(csv.DictReader(file))
print(rows, sum(int(row["age"]) for row in rows) / len(rows))
print(list(csv.reader(["a;b;'c;d'"], delimiter=";", quotechar="'")), csv.Sniffer().sniff("a\tb\n1\t2\n").delimiter, csv.list_dialects())
out = io.StringIO()
csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerow([1, "two", 3.5])
print(out.getvalue())
