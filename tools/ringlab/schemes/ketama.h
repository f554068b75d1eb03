// Ketama (R. Jones, last.fm: libketama, 2007), the memcached clients' ring: the MD5 of "server-i" gives four
// points of 32 bits, 40 digests a server are 160 points; a key's place is the first 32 bits of its own MD5.
//
// libketama sizes servers by their part of all memory; here a server of weight w has 40 w digests whoever
// else is there, so that a change of one leaves the points of the others alone.
#pragma once

#include <array>

#include "tools/ringlab/scheme.h"

namespace ringkv::ringlab {

// The four little-endian 32-bit words of an MD5.
std::array<uint32_t, 4> md5_words(std::string_view bytes);

class Ketama : public Scheme {
 public:
  static constexpr uint32_t kDigestsPerServer = 40;

  Status become(const std::vector<LabNode>& nodes) override;
  std::vector<uint32_t> owners(const KeySet& keys) const override;
  size_t state_bytes() const override { return points_.size() * sizeof(Point); }

 private:
  struct Point {
    uint32_t place = 0;
    uint32_t node = 0;  // its number

    friend auto operator<=>(const Point&, const Point&) = default;
  };

  std::vector<Point> points_;
};

}  // namespace ringkv::ringlab
