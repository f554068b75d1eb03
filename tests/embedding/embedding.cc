// A node inside this program, and a client of it beside: a put through one is read through the other.
#include <iostream>

#include "ringkv/client.h"
#include "ringkv/db.h"

int fail(const ringkv::Status& status) {
  std::cerr << status.to_string() << '\n';
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) return fail(ringkv::invalid_argument("usage: embedding DATA-DIRECTORY"));
  auto db = ringkv::Db::open(
      {.data_directory = argv[1], .bootstrap = true, .replicas = 1, .client_address = "127.0.0.1:0"});
  if (!db.ok()) return fail(db.status());
  auto client = ringkv::Client::connect({.nodes = {(*db)->client_address()}});
  if (!client.ok()) return fail(client.status());

  const auto put = (*client)->put("greeting", "hello");
  if (!put.ok()) return fail(put.status());
  const auto got = (*db)->get("greeting");
  if (!got.ok() || !got->found()) return fail(got.ok() ? ringkv::not_found("greeting") : got.status());
  std::cout << "greeting: " << got->values.front() << '\n';
  return got->values.front() == "hello" ? 0 : 1;
}
