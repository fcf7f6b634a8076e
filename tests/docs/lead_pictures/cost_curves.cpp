// The times that lab 12's solution predicts for the example of its handout: 64 nodes with one GPU each.
#include <cmath>
#include <utility>
#include <vector>

#include "choose_an_algorithm.h"
#include "picture.h"
#include "sheet.h"

namespace dist::pictures {
namespace curves {
namespace {

constexpr double width = 800, height = 380, left = 70, right = 150, top = 16, bottom = 34;  // px
constexpr double least_bytes = 64, most_bytes = 256.0 * 1024 * 1024, least_s = 1e-5, most_s = 1;

double x_of(double bytes) {
  return left + (width - left - right) * std::log(bytes / least_bytes) / std::log(most_bytes / least_bytes);
}
double y_of(double seconds) {
  return height - bottom - (height - top - bottom) * std::log(seconds / least_s) / std::log(most_s / least_s);
}

double time_of(lab::Algorithm algorithm, double bytes) {
  lab::Machine machine;
  machine.nodes = 64;
  machine.between = {.alpha = 2.7e-6, .overhead = 0.5e-6, .beta = 4e-11};
  return lab::predict(algorithm, machine, bytes);
}

void draw_axes(Sheet& sheet) {
  for (const auto& [bytes, name] :
       {std::pair(1024., "1 KiB"), std::pair(32. * 1024, "32 KiB"), std::pair(1024. * 1024, "1 MiB"),
        std::pair(32. * 1024 * 1024, "32 MiB")}) {
    sheet.line("rail", x_of(bytes), top, x_of(bytes), height - bottom);
    sheet.text("middle", x_of(bytes), height - bottom + 18, name);
  }
  for (const auto& [seconds, name] :
       {std::pair(1e-5, "10 us"), std::pair(1e-4, "100 us"), std::pair(1e-3, "1 ms"),
        std::pair(1e-2, "10 ms"), std::pair(1e-1, "100 ms")}) {
    sheet.line("rail", left, y_of(seconds), width - right, y_of(seconds));
    sheet.text("end", left - 8, y_of(seconds), name);
  }
}

// The size from which on the ring is the faster one.
double crossing() {
  double below = least_bytes, above = most_bytes;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(below * above);
    const bool is_ring = time_of(lab::Algorithm::ring, middle) < time_of(lab::Algorithm::double_tree, middle);
    (is_ring ? above : below) = middle;
  }
  return above;
}

}  // namespace
}  // namespace curves

std::string cost_curves() {
  using namespace curves;
  Sheet sheet(width, height, "Predicted time of an all_reduce of 64 ranks, over the size of the data");
  draw_axes(sheet);
  struct Curve {
    lab::Algorithm algorithm;
    const char *name, *look;
  };
  for (const Curve& curve :
       {Curve{lab::Algorithm::parameter_server, "parameter server", "line thin"},
        Curve{lab::Algorithm::tree, "tree", "line"}, Curve{lab::Algorithm::double_tree, "double tree", "lb"},
        Curve{lab::Algorithm::ring, "ring", "la"}}) {
    std::string d;
    double end_x = left, end_y = top;
    for (double bytes = least_bytes; bytes <= most_bytes * 1.001; bytes *= 2) {
      const double seconds = time_of(curve.algorithm, bytes);
      if (seconds > most_s) break;
      end_x = x_of(bytes);
      end_y = y_of(seconds);
      d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L", end_x, end_y);
    }
    sheet.path(curve.look, d);
    sheet.text("start strong", end_x + 6, end_y, curve.name);
  }
  const double bytes = crossing(), seconds = time_of(lab::Algorithm::ring, bytes);
  sheet.line("line thin", x_of(bytes), y_of(seconds), x_of(bytes), height - bottom);
  sheet.circle("mark", x_of(bytes), y_of(seconds), 5);
  sheet.text("start strong", x_of(bytes) + 9, y_of(seconds) + 14, fmt::format("{:.0f} KiB", bytes / 1024));
  return sheet.svg();
}

}  // namespace dist::pictures
