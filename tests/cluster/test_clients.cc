// Many clients of the library in one process, for tests in other languages: each argument is one client,
// "routed" or "through" (ClientOptions::route) and its nodes, as in `test_clients
// routed=127.0.0.1:7401,127.0.0.1:7403`.
//
// It says "ready" when all are connected. A request a line on standard input, and its answer a line on
// standard output as soon as it is there, whatever came before: words with blanks between, bytes in base64,
// "-" for nothing.
//   NUMBER CLIENT put KEY VALUE CONTEXT W      NUMBER OK CONTEXT
//   NUMBER CLIENT del KEY                      NUMBER OK CONTEXT
//   NUMBER CLIENT get KEY R                    NUMBER OK CONTEXT [VALUE…]
//   NUMBER CLIENT owners KEY…                  NUMBER OK NAME,…  of each
//                                              NUMBER CODE MESSAGE
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "ringkv/client.h"
#include "ringkv/text.h"

namespace ringkv {
namespace {

std::string word_of(const std::string& bytes) { return bytes.empty() ? "-" : base64(bytes); }

std::string bytes_of(const std::string& word) {
  if (word == "-") return "";
  std::optional<std::string> bytes = from_base64(word);
  if (!bytes) throw std::invalid_argument("not base64: " + word);
  return *bytes;
}

// The next word.
std::string operator*(std::istringstream& words) {
  std::string word;
  if (!(words >> word)) throw std::invalid_argument("a word is missing: " + words.str());
  return word;
}

std::unique_ptr<Client> client_of(const std::string& argument) {
  const size_t equals = argument.find('=');
  ClientOptions options{.nodes = {}, .route = argument.substr(0, equals) == "routed"};
  std::istringstream nodes(argument.substr(equals + 1));
  for (std::string node; std::getline(nodes, node, ',');) options.nodes.push_back(node);
  Result<std::unique_ptr<Client>> client = Client::connect(options);
  if (!client.ok()) throw std::runtime_error(client.status().to_string());
  return *std::move(client);
}

class Requests {
 public:
  explicit Requests(std::vector<std::unique_ptr<Client>> clients) : clients_(std::move(clients)) {}

  void serve(const std::string& line) {
    std::istringstream words(line);
    const std::string number = *words;
    Client& client = *clients_.at(std::stoul(*words));
    const std::string verb = *words;
    if (verb == "owners") return owners(number, client, words);
    const std::string key = bytes_of(*words);
    if (verb == "put") return put(number, client, key, words);
    if (verb == "del") return del(number, client, key);
    if (verb == "get") return get(number, client, key, words);
    throw std::invalid_argument("no such verb: " + line);
  }

 private:
  void put(const std::string& number, Client& client, const std::string& key, std::istringstream& words) {
    const std::string value = bytes_of(*words);
    const std::string context = *words;
    PutOptions options{.w = static_cast<uint32_t>(std::stoul(*words))};
    if (context != "-") options.context = Context(bytes_of(context));
    client.put(key, value, options, [this, number](const Result<PutReceipt>& receipt) {
      if (!receipt.ok()) return refuse(number, receipt.status());
      say(number + " OK " + word_of(receipt->context.bytes()));
    });
  }

  // Of what it finds, as kvctl's.
  void del(const std::string& number, Client& client, const std::string& key) {
    client.remove(key, PutOptions(), [this, number](const Result<PutReceipt>& receipt) {
      if (!receipt.ok()) return refuse(number, receipt.status());
      say(number + " OK " + word_of(receipt->context.bytes()));
    });
  }

  void get(const std::string& number, Client& client, const std::string& key, std::istringstream& words) {
    const GetOptions options{.r = static_cast<uint32_t>(std::stoul(*words))};
    client.get(key, options, [this, number](const Result<GetResult>& got) {
      if (!got.ok()) return refuse(number, got.status());
      std::string answer = number + " OK " + word_of(got->context.bytes());
      for (const std::string& value : got->values) answer += " " + word_of(value);
      say(answer);
    });
  }

  void owners(const std::string& number, const Client& client, std::istringstream& words) {
    std::string answer = number + " OK";
    for (std::string key; words >> key;) {
      std::string names;
      for (const std::string& name : client.owners_of(bytes_of(key)))
        names += (names.empty() ? "" : ",") + name;
      answer += " " + names;
    }
    say(answer);
  }

  void refuse(const std::string& number, const Status& why) {
    say(number + " " + std::string(name_of(why.code())) + " " + word_of(why.message()));
  }

  void say(const std::string& line) {
    const std::lock_guard lock(output_);
    std::cout << line << std::endl;
  }

  std::mutex output_;  // callbacks come on each client's own thread
  std::vector<std::unique_ptr<Client>> clients_;
};

int run(const std::vector<std::string>& arguments) {
  std::vector<std::unique_ptr<Client>> clients;
  for (const std::string& argument : arguments) clients.push_back(client_of(argument));
  std::cout << "ready" << std::endl;
  Requests requests(std::move(clients));
  for (std::string line; std::getline(std::cin, line);) requests.serve(line);
  return 0;
}

}  // namespace
}  // namespace ringkv

int main(int argc, char** argv) {
  try {
    return ringkv::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "test_clients: " << error.what() << '\n';
    return 2;
  }
}
