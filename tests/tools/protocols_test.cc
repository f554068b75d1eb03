// The protocols of the systems that ringkv is compared with, as their servers speak them.
#include <gtest/gtest.h>

#include "tools/kvbench/compare/etcd_protocol.h"
#include "tools/kvbench/compare/redis_protocol.h"

namespace ringkv::tools {
namespace {

using namespace std::string_literals;
using Ended = std::vector<Protocol::Ended>;

// All bytes one by one: an answer may come in pieces.
bool feed(Protocol& protocol, const std::string& bytes, std::string& out, Ended& ended) {
  std::string in;
  for (const char byte : bytes) {
    in.push_back(byte);
    if (!protocol.receive(in, out, ended)) return false;
  }
  return in.empty();
}

TEST(RedisProtocol, AsksAsRespSays) {
  RedisProtocol redis;
  std::string out;
  redis.put(0, "k", "v\r\n", out);
  redis.get(1, "k", out);

  EXPECT_EQ(out, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\nv\r\n\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
}

TEST(RedisProtocol, AnswersComeInOrderAndMayHoldLineEnds) {
  RedisProtocol redis;
  std::string out;
  for (const uint32_t slot : {4, 2, 0, 1}) redis.get(slot, "k", out);
  Ended ended;

  ASSERT_TRUE(feed(redis, "+OK\r\n$4\r\na\r\nb\r\n$-1\r\n-ERR no\r\n", out, ended));

  ASSERT_EQ(ended.size(), 4U);
  EXPECT_EQ(ended[0].slot, 4U);
  EXPECT_TRUE(ended[1].ok && ended[1].found);
  EXPECT_FALSE(ended[2].found);
  EXPECT_FALSE(ended[3].ok);
}

TEST(RedisProtocol, WhatIsntRespIsRefused) {
  for (const char* wrong : {"HTTP/1.1 200 OK\r\n", "$x\r\n", "$-2\r\n", "\r\n"}) {
    RedisProtocol redis;
    std::string out;
    redis.get(0, "k", out);
    Ended ended;
    std::string in = wrong;
    EXPECT_FALSE(redis.receive(in, out, ended)) << wrong;
  }
  RedisProtocol asked_nothing;
  std::string out;
  std::string in = "+OK\r\n";
  Ended ended;
  EXPECT_FALSE(asked_nothing.receive(in, out, ended));
}

std::string frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
  std::string bytes{
      0, 0, static_cast<char>(payload.size()), static_cast<char>(type), static_cast<char>(flags), 0,
      0, 0, static_cast<char>(stream)};
  return bytes + payload;
}

// A message of gRPC.
std::string message(const std::string& bytes) {
  return "\0\0\0\0"s + static_cast<char>(bytes.size()) + bytes;
}

TEST(EtcdProtocol, StreamsEndInAnyOrder) {
  EtcdProtocol etcd;
  std::string out;
  etcd.put(7, "k", "v", out);
  etcd.get(8, "k", out);
  etcd.get(9, "k", out);
  Ended ended;
  const std::string found = message("\x0A\x02\x08\x01\x12\x01k");
  const std::string nothing = message("\x0A\x02\x08\x01");

  ASSERT_TRUE(feed(etcd,
                   frame(1, 4, 5, "\x88") + frame(0, 0, 5, found) + frame(1, 5, 5, "\x88") +
                       frame(0, 0, 1, nothing) + frame(1, 5, 1, "\x88") + frame(0, 0, 3, nothing) +
                       frame(1, 5, 3, "\x88"),
                   out, ended));

  ASSERT_EQ(ended.size(), 3U);
  EXPECT_EQ(ended[0].slot, 9U);
  EXPECT_TRUE(ended[0].ok && ended[0].found);
  EXPECT_EQ(ended[1].slot, 7U);
  EXPECT_TRUE(ended[1].ok && ended[1].found);
  EXPECT_EQ(ended[2].slot, 8U);
  EXPECT_TRUE(ended[2].ok && !ended[2].found);
}

TEST(EtcdProtocol, TrailersAloneAreAnError) {
  EtcdProtocol etcd;
  std::string out;
  etcd.put(3, "k", "v", out);
  etcd.put(4, "k", "v", out);
  Ended ended;

  ASSERT_TRUE(feed(etcd, frame(1, 5, 1, "\x88") + frame(3, 0, 3, "\0\0\0\x7"s), out, ended));

  ASSERT_EQ(ended.size(), 2U);
  EXPECT_FALSE(ended[0].ok);
  EXPECT_FALSE(ended[1].ok);
}

TEST(EtcdProtocol, SettingsAndPingsAreAnswered) {
  EtcdProtocol etcd;
  std::string out;
  Ended ended;

  ASSERT_TRUE(feed(etcd, frame(4, 0, 0, "") + frame(6, 0, 0, "12345678") + frame(4, 1, 0, ""), out, ended));

  EXPECT_EQ(out, frame(4, 1, 0, "") + frame(6, 1, 0, "12345678"));
}

TEST(EtcdProtocol, RequestsWaitForTheWindow) {
  EtcdProtocol etcd;
  std::string out;
  const std::string value(EtcdProtocol::kValueBytesMax, 'v');
  for (uint32_t slot = 0; slot < 4; ++slot) etcd.put(slot, "k", value, out);
  const size_t sent = out.size();
  etcd.put(4, "k", value, out);
  EXPECT_EQ(out.size(), sent);

  Ended ended;
  ASSERT_TRUE(feed(etcd, frame(8, 0, 0, "\0\0\x7F\xFF"s), out, ended));
  EXPECT_GT(out.size(), sent + value.size());
}

}  // namespace
}  // namespace ringkv::tools
