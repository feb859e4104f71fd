"""What a publish reports: a partition that was written, and the same as an array of JSON."""

import msgspec

from tidegate.domain.published import PartitionFact, PublishedPartition


def test_a_published_partition_survives_json():
    published = PublishedPartition(dataset="raw", key="2023-03-09|EWR", rows=10, bytes=100, files=1)

    assert msgspec.json.decode(msgspec.json.encode(published), type=PublishedPartition) == published


def test_a_reported_partition_is_an_array_in_json():
    reported = PartitionFact("flights/raw", "2023-03-09|EWR", 10, 100)

    assert msgspec.json.encode(reported) == b'["flights/raw","2023-03-09|EWR",10,100,""]'


def test_what_an_earlier_version_has_reported_is_read() -> None:
    found = msgspec.json.decode(b'["flights/raw","2023-03-09|EWR",10,100]', type=PartitionFact)

    assert found == PartitionFact("flights/raw", "2023-03-09|EWR", 10, 100)
