"""What is measured, in the order of the report. The long ones are for whoever names them."""

from bench.measures import batch, chaos, cold, endurance, fairness, layers, memory, soak, steady, throughput, warm

ALL = {measure.NAME: measure for measure in (cold, warm, throughput, batch, fairness, memory, steady, layers, endurance, chaos, soak)}
