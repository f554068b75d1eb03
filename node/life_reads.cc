// What a life reads from its disk without holding up the loop.
#include <memory>
#include <utility>

#include "node/life.h"

namespace ringkv {
namespace {

// Moves what a worker has found into its answer.
template <class Found, class Value>
void take(Result<Found> found, Value& value, Status& status) {
  if (found.ok()) {
    value = *std::move(found);
  } else {
    status = found.status();
  }
}

Status passed_over() { return unavailable("timed out before it was read"); }

}  // namespace

template <class Answer>
void Life::on_read(Answer read) {
  if (failed_) return;
  if (read.status.code() == StatusCode::kCorruption && callbacks_.damaged(read.status)) return;
  MessageOutbox outbox;
  if constexpr (std::is_same_v<Answer, RecordRead>) {
    const auto [now, wall_now] = moment();
    replica_.on(std::move(read), now, wall_now, outbox);
  } else if constexpr (std::is_same_v<Answer, SliceRead>) {
    replica_.on(std::move(read), outbox);
  } else if (converging_) {
    convergence_.on(std::move(read), moment(), outbox);
  }
  perform(outbox);
}

void Life::read(ReadRecord read) {
  auto result = std::make_shared<RecordRead>();
  result->ticket = read.ticket;
  reads_.add(read.deadline, environment_.clock.now(),
             {[key = std::move(read.place.storage_key), intended = read.hint_for, result](Engine& engine) {
                if (intended) return take(read_hint(engine, intended, key), result->bytes, result->status);
                const Result<Lookup> found = engine.get(Family::kData, key, result->bytes);
                if (!found.ok()) result->status = found.status();
              },
              [this, result](bool in_time) {
                if (!in_time) result->status = passed_over();
                on_read(std::move(*result));
              }});
}

void Life::read(ReadSlice read) {
  auto result = std::make_shared<SliceRead>();
  result->ticket = read.ticket;
  reads_.add(read.deadline, environment_.clock.now(),
             {[step = std::move(read.step), result](Engine& engine) {
                take(scan_slice(engine, step), result->slice, result->status);
              },
              [this, result](bool in_time) {
                if (!in_time) result->status = passed_over();
                on_read(std::move(*result));
              }});
}

template <class Answer, class Work>
void Life::read_in_background(uint64_t ticket, Work work) {
  auto result = std::make_shared<Answer>();
  result->ticket = ticket;
  reads_.add_in_background({[result, work = std::move(work)](Engine& engine) { work(engine, *result); },
                            [this, result](bool) { on_read(std::move(*result)); }},
                           environment_.clock.now());
}

void Life::read(ReadRange read) {
  read_in_background<RangeRead>(read.ticket,
                                [step = std::move(read.step)](Engine& engine, RangeRead& result) {
                                  take(range_slice(engine, step), result.slice, result.status);
                                });
}

void Life::read(ReadHint read) {
  read_in_background<HintRead>(read.ticket, [read](Engine& engine, HintRead& result) {
    take(read_hint(engine, read.intended, read.storage_key), result.record, result.status);
  });
}

void Life::read(ReadHints read) {
  read_in_background<HintsRead>(read.ticket,
                                [step = std::move(read.step)](Engine& engine, HintsRead& result) {
                                  take(hint_slice(engine, step), result.slice, result.status);
                                });
}

void Life::read(ReadTransient read) {
  read_in_background<TransientRead>(read.ticket,
                                    [step = std::move(read.step)](Engine& engine, TransientRead& result) {
                                      take(transient_slice(engine, step), result.slice, result.status);
                                    });
}

}  // namespace ringkv
