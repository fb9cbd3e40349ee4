"""Translate text with Apache Spark: each partition is piped through one zhen process.

usage: spark-submit spark.py IN_PATH OUT_DIRECTORY [ZHEN]

IN_PATH: anything that Spark's textFile reads (a file, a directory, hdfs://...). OUT_DIRECTORY gets
the parts, in the order of the input. zhen must be installed on every worker.
"""

import sys

from pyspark.sql import SparkSession


def main(source, target, zhen="zhen"):
    spark = SparkSession.builder.appName("zhen").getOrCreate()
    lines = spark.sparkContext.textFile(source)
    # checkCode: a zhen that fails fails its task, which Spark runs again.
    lines.pipe(f"{zhen} -q -t 1", checkCode=True).saveAsTextFile(target)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
