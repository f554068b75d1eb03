// One axis of a chart: its range, its marks, and where a value lies.
#pragma once

#include <string>
#include <vector>

namespace ringkv::ringlab {

class Axis {
 public:
  // From 0 to a round number at or above `greatest`.
  static Axis linear(double greatest);
  // Round numbers around values above 0.
  static Axis logarithmic(double least, double greatest);

  // 0 at the beginning, 1 at the end.
  double part(double value) const;
  const std::vector<double>& marks() const { return marks_; }

 private:
  double begin_ = 0;
  double end_ = 1;
  bool logarithmic_ = false;
  std::vector<double> marks_;
};

// As short as it is exact enough to read: "0.25", "12500".
std::string mark_text(double value);

}  // namespace ringkv::ringlab
