"""What is measured, in the order of the report. The long ones are for whoever names them."""

from bench.measures import batch, chaos, cold, density, endurance, fairness, layers, memory, processor, soak, steady, tenants, throughput, warm

ALL = {measure.NAME: measure for measure in (cold, warm, processor, throughput, batch, fairness, tenants, memory, density, steady, layers, endurance, chaos, soak)}
