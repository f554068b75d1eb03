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
    template <class Body>
    Envelope(NodeId to, Body&& body, bool after_records)
        : to(to), message(std::forward<Body>(body)), after_records(after_records) {}

    NodeId to;
    Message message;
    bool after_records;  // everything recorded in this outbox so far must be on disk before it leaves
  };

  Outbox() { envelopes_.swap(spare_room()); }
  ~Outbox() {
    envelopes_.clear();
    if (envelopes_.capacity() > spare_room().capacity() && envelopes_.capacity() <= kSpareMax)
      spare_room().swap(envelopes_);
  }
  Outbox(Outbox&&) noexcept = default;
  Outbox& operator=(Outbox&&) noexcept = default;

  // `body`: one of the words of Message, or a whole Message.
  template <class Body>
  void send(NodeId to, Body&& body) {
    envelopes_.emplace_back(to, std::forward<Body>(body), recorded_);
  }

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
  static constexpr size_t kSpareMax = 64;

  // Every message that a node takes fills an outbox of its own: the next one has the room of the last.
  static std::vector<Envelope>& spare_room() {
    thread_local std::vector<Envelope> room;
    return room;
  }

  std::vector<Envelope> envelopes_;
  std::vector<MetaRecord> meta_records_;
  bool recorded_ = false;
};

}  // namespace ringkv
