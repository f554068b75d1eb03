#include "base/ring_description.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "base/bytes.h"

namespace ringkv {
namespace {

Member member(uint64_t node, std::string name, std::string rack) {
  return {.node = {node}, .disk = {node + 100}, .name = std::move(name), .rack = std::move(rack)};
}

RingDescription two_nodes() {
  RingDescription ring;
  ring.epoch = 7;
  ring.cluster = {0xC1};
  ring.members = {member(1, "n1", "a"), member(2, "n2", "")};
  ring.members[1].weight = 0.5;
  ring.members[1].status = MemberStatus::kJoining;
  ring.members[1].voter = false;
  ring.owners = {0, 1, 0, 1};
  ring.change = {.members = {ring.members[1]}, .owners = {0, 0, 0, 0}, .replicas = 2};
  ring.change->members[0].rack = "b";
  ring.buckets = {{.name = ""},
                  {.name = "carts", .conflict = BucketConflict::kLastWriterWins, .ttl_ms = 60000}};
  ring.secret = std::string(32, 's');
  return ring;
}

// The same with a plan in the change's place, and a node that waits for it.
RingDescription drafted() {
  RingDescription ring = two_nodes();
  ring.change.reset();
  ring.waiting = {member(3, "n3", "c")};
  ring.plan = {
      .steps = {PlanJoin{"n3"}, PlanLeave{"n1"}, PlanReplace{"n1", "n3", true}, PlanWeight{"n2", 2},
                PlanRack{"n2", "c"}, PlanReplicas{300}, PlanMove{3, "n3"}},
      .leads_to = {.members = {ring.members[1], ring.waiting[0]}, .owners = {0, 1, 1, 0}, .replicas = 2}};
  return ring;
}

std::string message_of(const RingDescription& ring) {
  const Result<RingDescription> decoded = decode_ring_description(encode_ring_description(ring));
  if (decoded.ok()) return "ok";
  EXPECT_EQ(decoded.status().code(), StatusCode::kCorruption);
  return decoded.status().message();
}

TEST(RingDescription, DecodesToWhatWasEncoded) {
  for (const RingDescription& ring : {two_nodes(), drafted()}) {
    const Result<RingDescription> decoded = decode_ring_description(encode_ring_description(ring));

    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_EQ(*decoded, ring);
  }
}

// The other digests are of bytes that a few lines of Python wrote from the drawing in ring_description.cc:
// the format is pinned, since a cluster's nodes compare digests.
TEST(RingDescription, DigestIsTheSha1OfTheBytes) {
  EXPECT_EQ(ring_digest("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(ring_digest(encode_ring_description(two_nodes())), "141fcbc2f616bc82083b15908d8ede47810de807");
  RingDescription at_rest = two_nodes();
  at_rest.change.reset();
  EXPECT_EQ(ring_digest(encode_ring_description(at_rest)), "8bfece0708d290cb5ca7a92ab08d59b44be0d8f1");
  EXPECT_EQ(ring_digest(encode_ring_description(drafted())), "6cf10a5af906be9870e276238f6ebf865d2ac970");
}

TEST(RingDescription, EveryFieldChangesTheDigest) {
  const std::vector<std::function<void(RingDescription&)>> changes = {
      [](auto& ring) { ++ring.lineage; },
      [](auto& ring) { ++ring.epoch; },
      [](auto& ring) { ++ring.cluster.value; },
      [](auto& ring) { ring.open = true; },
      [](auto& ring) { ring.hash_name = "sha2"; },
      [](auto& ring) { ring.placer = PlacerKind::kHashed; },
      [](auto& ring) { ++ring.replicas; },
      [](auto& ring) { ring.members[0].node.value = 9; },
      [](auto& ring) { ++ring.members[0].disk.value; },
      [](auto& ring) { ring.members[0].name = "n0"; },
      [](auto& ring) { ring.members[0].rack = "b"; },
      [](auto& ring) { ring.members[0].weight = 2; },
      [](auto& ring) { ring.members[0].status = MemberStatus::kLeaving; },
      [](auto& ring) { ring.members[0].voter = false; },
      [](auto& ring) {
        ring.members[0].voter = false;
        ring.members[0].lost = true;
      },
      [](auto& ring) { ring.auto_removed = 1; },
      [](auto& ring) { ring.owners[3] = 0; },
      [](auto& ring) { ring.change.reset(); },
      [](auto& ring) { ring.change->members.insert(ring.change->members.begin(), ring.members[0]); },
      [](auto& ring) { ring.change->members[0].weight = 7; },
      [](auto& ring) {
        ring.change->members.push_back(member(3, "n3", "c"));
        ring.members.push_back(ring.change->members[1]);
        ring.change->owners[1] = 1;
      },
      [](auto& ring) { ++ring.change->replicas; },
      [](auto& ring) { ring.change->switched = true; },
      [](auto& ring) { ring.change->commit_id = 1; },
      [](auto& ring) { ring.waiting = {member(3, "n3", "c")}; },
      [](auto& ring) { ring.buckets[1].name = "c"; },
      [](auto& ring) { ring.buckets[1].conflict = BucketConflict::kSiblings; },
      [](auto& ring) { ring.buckets[1].read_quorum = 1; },
      [](auto& ring) { ring.buckets[1].write_quorum = 1; },
      [](auto& ring) { ++ring.buckets[1].ttl_ms; },
      [](auto& ring) { ring.secret[31] = 't'; },
  };
  std::map<std::string, size_t> digests;
  digests[ring_digest(encode_ring_description(two_nodes()))] = changes.size();
  for (size_t i = 0; i < changes.size(); ++i) {
    RingDescription ring = two_nodes();
    changes[i](ring);
    const std::string encoded = encode_ring_description(ring);
    EXPECT_TRUE(digests.emplace(ring_digest(encoded), i).second) << "change " << i;
    const Result<RingDescription> decoded = decode_ring_description(encoded);
    ASSERT_TRUE(decoded.ok()) << "change " << i << ": " << decoded.status().message();
    EXPECT_EQ(*decoded, ring) << "change " << i;
  }
}

TEST(RingDescription, EveryFieldOfAPlanChangesTheDigest) {
  const std::vector<std::function<void(RingDescription&)>> changes = {
      [](auto& ring) { ring.plan.reset(); },
      [](auto& ring) { ring.plan->steps.pop_back(); },
      [](auto& ring) { ring.plan->steps[0] = PlanLeave{"n3"}; },
      [](auto& ring) { std::get<PlanReplace>(ring.plan->steps[2]).force = false; },
      [](auto& ring) { std::get<PlanReplace>(ring.plan->steps[2]).by = "n4"; },
      [](auto& ring) { std::get<PlanWeight>(ring.plan->steps[3]).weight = 3; },
      [](auto& ring) { std::get<PlanRack>(ring.plan->steps[4]).rack = "b"; },
      [](auto& ring) { std::get<PlanReplicas>(ring.plan->steps[5]).replicas = 2; },
      [](auto& ring) { std::get<PlanMove>(ring.plan->steps[6]).partition = 1; },
      [](auto& ring) { ring.plan->leads_to.members[1].weight = 7; },
      [](auto& ring) { ring.plan->leads_to.owners[0] = 1; },
      [](auto& ring) { ring.plan->leads_to.replicas = 1; },
      [](auto& ring) { ring.waiting[0].weight = 7; },
      [](auto& ring) { ring.waiting.push_back(member(4, "n4", "")); },
  };
  std::set<std::string> digests = {ring_digest(encode_ring_description(drafted()))};
  for (size_t i = 0; i < changes.size(); ++i) {
    RingDescription ring = drafted();
    changes[i](ring);
    const std::string encoded = encode_ring_description(ring);
    EXPECT_TRUE(digests.insert(ring_digest(encoded)).second) << "change " << i;
    const Result<RingDescription> decoded = decode_ring_description(encoded);
    ASSERT_TRUE(decoded.ok()) << "change " << i << ": " << decoded.status().message();
    EXPECT_EQ(*decoded, ring) << "change " << i;
  }
}

TEST(RingDescription, RefusesAPlanThatBreaksARule) {
  const std::vector<std::pair<std::string, std::function<void(RingDescription&)>>> breaks = {
      {"neither is a member nor waits", [](auto& ring) { ring.waiting.clear(); }},
      {"neither is a member nor waits", [](auto& ring) { ring.plan->leads_to.members[1].disk = {}; }},
      {"next owners", [](auto& ring) { ring.plan->leads_to.owners.assign(2, 0); }},
      {"no replicas", [](auto& ring) { ring.plan->leads_to.replicas = 0; }},
      {"malformed", [](auto& ring) { ring.plan->leads_to.owners[0] = 2; }},
      {"malformed", [](auto& ring) { ring.plan->leads_to.members.clear(); }},
      {"malformed", [](auto& ring) { ring.plan->steps.assign(kPlanStepsMax + 1, PlanReplicas{1}); }},
      {"malformed", [](auto& ring) { ring.plan->steps[0] = PlanJoin{std::string(65, 'n')}; }},
      {"without steps", [](auto& ring) { ring.plan->steps.clear(); }},
      {"beside a change", [](auto& ring) { ring.change = two_nodes().change; }},
      {"waits and is a member",
       [](auto& ring) { ring.waiting.insert(ring.waiting.begin(), ring.members[0]); }},
      {"waits and is a member", [](auto& ring) { ring.waiting[0].node = ring.members[0].node; }},
      {"order of name", [](auto& ring) { ring.waiting.push_back(ring.waiting[0]); }},
      {"weight", [](auto& ring) { ring.waiting[0].weight = 0; }},
  };
  ASSERT_EQ(message_of(drafted()), "ok");
  for (size_t i = 0; i < breaks.size(); ++i) {
    RingDescription ring = drafted();
    breaks[i].second(ring);
    EXPECT_NE(message_of(ring).find(breaks[i].first), std::string::npos)
        << "rule " << i << ": " << message_of(ring);
  }
}

// What the page of rules forbids is refused by name, each rule once.
TEST(RingDescription, RefusesWhatBreaksARule) {
  const std::vector<std::pair<std::string, std::function<void(RingDescription&)>>> breaks = {
      {"count from 1", [](auto& ring) { ring.lineage = 0; }},
      {"count from 1", [](auto& ring) { ring.epoch = 0; }},
      {"hash", [](auto& ring) { ring.hash_name = "sha 1"; }},
      {"no replicas", [](auto& ring) { ring.replicas = 0; }},
      {"malformed", [](auto& ring) { ring.replicas = kMembersMax + 1; }},
      {"malformed", [](auto& ring) { ring.members.clear(); }},
      {"order of name", [](auto& ring) { std::swap(ring.members[0], ring.members[1]); }},
      {"order of name", [](auto& ring) { ring.members[1].name = "n1"; }},
      {"node name", [](auto& ring) { ring.members[0].name = ""; }},
      {"rack", [](auto& ring) { ring.members[0].rack = "a/b"; }},
      {"weight", [](auto& ring) { ring.members[0].weight = 0; }},
      {"weight", [](auto& ring) { ring.members[0].weight = 100.5; }},
      {"weight", [](auto& ring) { ring.members[0].weight = -1; }},
      {"weight", [](auto& ring) { ring.members[0].weight = std::numeric_limits<double>::quiet_NaN(); }},
      {"no id", [](auto& ring) { ring.members[0].node = {}; }},
      {"another one's id", [](auto& ring) { ring.members[0].node = ring.members[1].node; }},
      {"malformed", [](auto& ring) { ring.members[0].status = static_cast<MemberStatus>(3); }},
      {"malformed", [](auto& ring) { ring.placer = static_cast<PlacerKind>(2); }},
      {"malformed", [](auto& ring) { ring.owners[2] = 2; }},
      {"malformed", [](auto& ring) { ring.change->owners[2] = 1; }},
      {"malformed", [](auto& ring) { ring.change->members.clear(); }},
      {"isn't a member before", [](auto& ring) { ring.change->members[0].name = "n3"; }},
      {"isn't a member before", [](auto& ring) { ring.change->members[0].disk = {}; }},
      {"weight", [](auto& ring) { ring.change->members[0].weight = 0; }},
      {"no replicas", [](auto& ring) { ring.change->replicas = 0; }},
      {"malformed", [](auto& ring) { ring.change->replicas = kMembersMax + 1; }},
      {"power of two",
       [](auto& ring) {
         ring.owners = {0, 1, 0};
       }},
      {"power of two", [](auto& ring) { ring.owners.clear(); }},
      {"malformed", [](auto& ring) { ring.owners.assign(2 * kPartitionsMax, 0); }},
      {"next owners",
       [](auto& ring) {
         ring.change->owners = {0, 0};
       }},
      {"default bucket", [](auto& ring) { ring.buckets.clear(); }},
      {"default bucket", [](auto& ring) { ring.buckets.erase(ring.buckets.begin()); }},
      {"order of name", [](auto& ring) { ring.buckets[1].name = ""; }},
      {"bucket", [](auto& ring) { ring.buckets[1].name = "a b"; }},
      {"malformed", [](auto& ring) { ring.buckets[1].write_quorum = kMembersMax + 1; }},
      {"secret", [](auto& ring) { ring.secret.pop_back(); }},
      {"malformed", [](auto& ring) { ring.secret.push_back('s'); }},
  };
  ASSERT_EQ(message_of(two_nodes()), "ok");
  for (size_t i = 0; i < breaks.size(); ++i) {
    RingDescription ring = two_nodes();
    breaks[i].second(ring);
    EXPECT_NE(message_of(ring).find(breaks[i].first), std::string::npos)
        << "rule " << i << ": " << message_of(ring);
  }
}

TEST(RingDescription, RefusesAnotherFormatWithBothNumbers) {
  std::string bytes = encode_ring_description(two_nodes());
  bytes[0] = 4;

  const Result<RingDescription> decoded = decode_ring_description(bytes);

  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.status().message(), "ring description: format 4, this build reads 1 to 3");
}

TEST(RingDescription, TruncatedOrExtendedBytesAreCorrupt) {
  for (const RingDescription& ring : {two_nodes(), drafted()}) {
    const std::string bytes = encode_ring_description(ring);
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode_ring_description(std::string_view(bytes).substr(0, size)).ok()) << size << " bytes";
    EXPECT_FALSE(decode_ring_description(bytes + '\0').ok());
  }
}

// A flipped bit gives an error, or another valid description with exactly these bytes: never a crash, never
// a second encoding of the same ring.
TEST(RingDescription, FlippedBitsNeverCrashNorAlias) {
  for (const RingDescription& ring : {two_nodes(), drafted()}) {
    const std::string bytes = encode_ring_description(ring);
    size_t refused = 0;
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      const Result<RingDescription> decoded = decode_ring_description(flipped);
      refused += decoded.ok() ? 0 : 1;
      if (decoded.ok()) {
        EXPECT_EQ(encode_ring_description(*decoded), flipped) << "bit " << bit;
      }
    }
    EXPECT_GT(refused, 100U);
  }
}

TEST(RingDescription, AnOverlongVarintIsNotASecondEncoding) {
  RingDescription ring = two_nodes();
  std::string bytes = encode_ring_description(ring);
  const size_t ttl_of_default_bucket = bytes.find(std::string("\0\0\0\0\0\5carts", 11)) + 4;
  ASSERT_EQ(bytes[ttl_of_default_bucket], 0);
  bytes.replace(ttl_of_default_bucket, 1, "\x80\0", 2);

  const Result<RingDescription> decoded = decode_ring_description(bytes);

  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.status().message(), "ring description: not in its one encoding");
}

// A length can claim anything; memory is asked for only as far as bytes are there.
TEST(RingDescription, HugeCountsAreRefusedBeforeAnythingIsAllocated) {
  std::string bytes = encode_ring_description(two_nodes()).substr(0, 1 + 24 + 1 + 5 + 1 + 1);
  ByteWriter(bytes).varint(~0ULL);
  EXPECT_FALSE(decode_ring_description(bytes).ok());
}

TEST(RingDescription, FindsMembersByNameAndIdAndBucketsByName) {
  const RingDescription ring = two_nodes();
  EXPECT_EQ(ring.find_member("n2"), &ring.members[1]);
  EXPECT_EQ(ring.find_member("n"), nullptr);
  EXPECT_EQ(ring.find_member("n3"), nullptr);
  EXPECT_EQ(ring.find_member(NodeId{1}), &ring.members[0]);
  EXPECT_EQ(ring.find_member(NodeId{3}), nullptr);
  EXPECT_EQ(ring.find_bucket(""), &ring.buckets[0]);
  EXPECT_EQ(ring.find_bucket("carts"), &ring.buckets[1]);
  EXPECT_EQ(ring.find_bucket("cart"), nullptr);
}

TEST(CheckName, TakesOneTo64OfLettersDigitsDotUnderscoreDash) {
  EXPECT_TRUE(check_name("node name", "n1.Rack_a-7").ok());
  EXPECT_TRUE(check_name("node name", std::string(64, 'x')).ok());
  EXPECT_FALSE(check_name("node name", std::string(65, 'x')).ok());
  EXPECT_FALSE(check_name("node name", "").ok());
  for (const char* name : {"a b", "a/b", "a#1", "\xC3\xA4", "a\n"})
    EXPECT_FALSE(check_name("node name", name).ok()) << name;
  EXPECT_EQ(check_name("rack", "a b").message().find("rack 'a b'"), 0U);
}

}  // namespace
}  // namespace ringkv
