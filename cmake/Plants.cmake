# ringkv_planted: the files that ask planted() (base/plants.h), compiled once more with the faults in them. Whoever
# links these objects beside ringkv gets them instead of that library's own: of a static library only that is taken
# which is undefined still. tests/layering_test.cc knows if a file is missing here.
add_library(ringkv_planted OBJECT EXCLUDE_FROM_ALL
  storage/record.cc
  storage/record_merge.cc
  storage/record_store.cc
  gossip/acceptor.cc
  gossip/older_copy.cc
  gossip/proposer.cc
  replication/boot_closing.cc
  replication/former_ranges.cc
  replication/get_request.cc
  replication/hint_delivery.cc
  replication/hint_keeper.cc
  replication/operation_table.cc
  replication/partition_round.cc
  replication/preference_list.cc
  replication/put_copies.cc
  replication/replica.cc
  replication/replica_reads.cc
  replication/sweeper.cc
  replication/takeover.cc
  node/epoch_gate.cc
  node/life.cc
  node/node.cc
  node/ring_changes.cc
  node/ring_driver.cc
  node/store_opener.cc
)
target_compile_definitions(ringkv_planted PRIVATE RINGKV_PLANTS)
target_include_directories(ringkv_planted PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
