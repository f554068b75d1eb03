// What a core wants done, in order: messages, and records to be put on disk. A message queued after a record
// leaves only when that record is on disk; one queued before it leaves at once. The shell (node/life.cc) and
// nobody else keeps this rule.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace ringkv {

// A small piece of state of our own that must be synced: a ring description, later votes and boots.
struct MetaRecord {
  std::string key;
  std::string value;
};

template <class Message>
class Outbox {
 public:
  struct Envelope {
    NodeId to;
    Message message;
    bool after_records;  // everything recorded in this outbox so far must be on disk before it leaves
  };

  void send(NodeId to, Message message) { envelopes_.push_back({to, std::move(message), recorded_}); }

  void record(MetaRecord record) {
    meta_records_.push_back(std::move(record));
    recorded_ = true;
  }

  // The core has staged data in the record store's open batch.
  void staged() { recorded_ = true; }

  std::vector<Envelope>& envelopes() { return envelopes_; }
  std::vector<MetaRecord>& meta_records() { return meta_records_; }
  bool empty() const { return envelopes_.empty() && meta_records_.empty() && !recorded_; }
  void clear() {
    envelopes_.clear();
    meta_records_.clear();
    recorded_ = false;
  }

 private:
  std::vector<Envelope> envelopes_;
  std::vector<MetaRecord> meta_records_;
  bool recorded_ = false;
};

}  // namespace ringkv
