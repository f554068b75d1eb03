#include "tools/ringlab/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ringkv::ringlab {
namespace {

constexpr double kRoundNumbers[] = {1, 2, 5, 10};

// The greatest of 1, 2 and 5 times a power of ten that isn't above `value`.
double round_down(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value) + 1e-9));
  double best = decade;
  for (const double number : kRoundNumbers) {
    if (number * decade <= value * (1 + 1e-9)) best = number * decade;
  }
  return best;
}

double round_up(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value) + 1e-9));
  for (const double number : kRoundNumbers) {
    if (number * decade >= value * (1 - 1e-9)) return number * decade;
  }
  return 10 * decade;
}

}  // namespace

Axis Axis::linear(double greatest) {
  const double step = round_up((greatest > 0 ? greatest : 1) / 6);
  Axis axis;
  axis.marks_.push_back(0);
  while (axis.marks_.back() < greatest * (1 - 1e-9) || axis.marks_.size() < 2)
    axis.marks_.push_back(step * static_cast<double>(axis.marks_.size()));
  axis.end_ = axis.marks_.back();
  return axis;
}

Axis Axis::logarithmic(double least, double greatest) {
  Axis axis;
  axis.logarithmic_ = true;
  axis.begin_ = round_down(least);
  axis.end_ = std::max(round_up(greatest), 2 * axis.begin_);
  double mark = axis.begin_;
  while (mark <= axis.end_ * (1 + 1e-9)) {
    axis.marks_.push_back(mark);
    mark = round_up(mark * 1.5);
  }
  return axis;
}

double Axis::part(double value) const {
  if (!logarithmic_) return (value - begin_) / (end_ - begin_);
  return std::log(value / begin_) / std::log(end_ / begin_);
}

std::string mark_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 10000 ? "%.0f" : "%.4g", value);
  return text;
}

}  // namespace ringkv::ringlab
