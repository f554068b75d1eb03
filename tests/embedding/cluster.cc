// Three nodes inside this program that form a cluster: what is put through one is got through the others.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "ringkv/admin.h"
#include "ringkv/db.h"

using Nodes = std::vector<std::unique_ptr<ringkv::Db>>;

int fail(const std::string& where, const ringkv::Status& status) {
  std::cerr << where << ": " << status.to_string() << '\n';
  return 1;
}

// The first founds the cluster, the others join it.
ringkv::Options options_of(const std::string& directory, const Nodes& nodes) {
  const std::string number = std::to_string(nodes.size() + 1);
  ringkv::Options options;
  options.data_directory = directory + "/n" + number;
  options.name = "n" + number;
  options.rack = number;
  options.peer_address = "127.0.0.1:0";
  options.bootstrap = nodes.empty();
  for (const auto& node : nodes) options.join.push_back(node->peer_address());
  return options;
}

int main(int argc, char** argv) {
  if (argc != 2) return fail("usage: cluster DIRECTORY", ringkv::invalid_argument("a directory is needed"));
  Nodes nodes;
  for (int i = 0; i < 3; ++i) {
    auto node = ringkv::Db::open(options_of(argv[1], nodes));
    if (!node.ok()) return fail("open", node.status());
    nodes.push_back(*std::move(node));
  }

  for (size_t by = 0; by < nodes.size(); ++by) {
    const std::string key = "put through " + nodes[by]->name();
    const auto put = nodes[by]->put(key, "hello");
    if (!put.ok()) return fail(key, put.status());
    if (put->acks.size() < 2) return fail(key, ringkv::unavailable("acknowledged by fewer than two nodes"));
    for (const auto& node : nodes) {
      const auto got = node->get(key);
      if (!got.ok()) return fail(key + ", got through " + node->name(), got.status());
      if (got->values != std::vector<std::string>{"hello"})
        return fail(key + ", got through " + node->name(), ringkv::not_found("the value"));
    }
  }

  const auto status = ringkv::Admin(*nodes.back()).status();
  if (!status.ok()) return fail("status", status.status());
  std::cout << status->members.size() << " members in epoch " << status->epoch << '\n';
  if (status->members.size() != nodes.size()) return 1;
  for (const auto& node : nodes) {
    const ringkv::Status closed = node->close();
    if (!closed.ok()) return fail("close " + node->name(), closed);
  }
  return 0;
}
