// An example of a workload of your own, and a test of it: shopping carts, as the Dynamo paper tells of them.
// A cart is a set of things, each on a line. Whoever adds one gets the cart, merges its siblings, and puts
// the union with the context of what he read. Then whatever was added, and acknowledged, must be in the cart
// at the end, however many nodes had died, were cut off or lost their disk in between; and nothing else may
// be.
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ringkv/simulation.h"

namespace {

using ringkv::Context;
using ringkv::GetResult;
using ringkv::PutReceipt;
using ringkv::Result;
using ringkv::simulation::Cluster;
using ringkv::simulation::UserWorkload;
using std::chrono::milliseconds;

using Cart = std::set<std::string>;

constexpr uint64_t kCarts = 4;
constexpr uint64_t kPauseMaxMs = 800;

Cart merged(const std::vector<std::string>& siblings) {
  Cart cart;
  for (const std::string& sibling : siblings) {
    std::istringstream lines(sibling);
    for (std::string thing; std::getline(lines, thing);) cart.insert(thing);
  }
  return cart;
}

std::string text_of(const Cart& cart) {
  std::string text;
  for (const std::string& thing : cart) text += thing + "\n";
  return text;
}

class ShoppingCarts final : public UserWorkload {
 public:
  explicit ShoppingCarts(Cluster& cluster) : cluster_(cluster) {}

  void start() override {
    for (size_t shopper = 0; shopper < cluster_.clients(); ++shopper) go_on(shopper);
  }

  void stop() override { stopped_ = true; }

  void on_quiet() override {
    for (uint64_t i = 0; i < kCarts; ++i) {
      const std::string cart = name_of(i);
      cluster_.client(0).get(cart, {}, [this, cart](const Result<GetResult>& got) {
        if (got.ok()) last_[cart] = merged(got->values);
      });
    }
  }

  std::vector<std::string> check() override {
    std::vector<std::string> broken;
    for (uint64_t i = 0; i < kCarts; ++i) {
      const std::string cart = name_of(i);
      if (!last_.contains(cart)) {
        broken.push_back(cart + " can't be read though all is healed");
        continue;
      }
      for (const std::string& thing : added_[cart]) {
        if (!last_[cart].contains(thing)) broken.push_back(thing + " was added to " + cart + " and is lost");
      }
      for (const std::string& thing : last_[cart]) {
        if (!tried_[cart].contains(thing))
          broken.push_back(thing + " is in " + cart + " and nobody put it there");
      }
    }
    return broken;
  }

 private:
  static std::string name_of(uint64_t cart) { return "cart " + std::to_string(cart); }

  // Each shopper adds one thing after the other, to carts that others use at the same time.
  void go_on(size_t shopper) {
    cluster_.after(milliseconds(cluster_.random(kPauseMaxMs)), [this, shopper] {
      if (!stopped_) add(shopper, name_of(cluster_.random(kCarts)), "thing " + std::to_string(++things_));
    });
  }

  void add(size_t shopper, const std::string& cart, const std::string& thing) {
    cluster_.client(shopper).get(cart, {}, [=, this](const Result<GetResult>& got) {
      if (!got.ok()) return go_on(shopper);  // he gives up: nothing was written
      Cart things = merged(got->values);
      things.insert(thing);
      put(shopper, cart, things, got->context, thing);
    });
  }

  // Of an unknown outcome it can't be said whether the thing is in the cart; either is right.
  void put(size_t shopper, const std::string& cart, const Cart& things, const Context& seen,
           const std::string& thing) {
    tried_[cart].insert(thing);
    cluster_.client(shopper).put(cart, text_of(things), {.context = seen},
                                 [=, this](const Result<PutReceipt>& receipt) {
                                   if (receipt.ok()) added_[cart].insert(thing);
                                   go_on(shopper);
                                 });
  }

  Cluster& cluster_;
  bool stopped_ = false;
  uint64_t things_ = 0;
  std::map<std::string, Cart> tried_;
  std::map<std::string, Cart> added_;  // and acknowledged
  std::map<std::string, Cart> last_;   // as they were read at the end
};

}  // namespace

int main(int argc, char** argv) {
  return ringkv::simulation::run_seeds(
      argc, argv, [](Cluster& cluster) { return std::make_unique<ShoppingCarts>(cluster); });
}
