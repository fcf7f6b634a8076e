// Four bars: bytes that a rank keeps of one parameter, in f32 with Adam: the parameter itself (p), its
// gradient (g), and Adam's two averages (m and v).
#include "picture.h"
#include "sheet.h"

namespace dist::pictures {
namespace memory {
namespace {

constexpr double ranks = 8, element = 4;                                               // bytes
constexpr double width = 800, height = 330, left = 60, floor = height - 36, top = 40;  // px
constexpr double unit = (floor - top) / (4 * element), bar = 96, step = 180;           // px of a byte

struct Way {
  const char* name;
  bool divides_state, divides_gradient, divides_parameter;
};
constexpr Way ways[]{{"DDP", false, false, false},
                     {"ZeRO-1", true, false, false},
                     {"ZeRO-2", true, true, false},
                     {"ZeRO-3", true, true, true}};

double share(double bytes, bool is_divided) { return is_divided ? bytes / ranks : bytes; }

}  // namespace
}  // namespace memory

std::string sharded_memory() {
  using namespace memory;
  Sheet sheet(width, height, "Bytes per parameter on each of 8 ranks");
  for (double bytes = 0; bytes <= 4 * element; bytes += element) {
    sheet.line("rail", left, floor - unit * bytes, width - 10, floor - unit * bytes);
    sheet.text("end", left - 8, floor - unit * bytes, fmt::format("{} B", bytes));
  }
  double x = left + 30;
  for (const Way& way : ways) {
    double y = floor;
    const auto stack = [&](const char* look, const char* name, double bytes) {
      const double high = unit * bytes;
      y -= high;
      sheet.bar(look, x, y, bar, high);
      if (high > 20) sheet.text("middle strong", x + bar / 2, y + high / 2, name);
    };
    const double parameter = share(element, way.divides_parameter);
    const double gradient = share(element, way.divides_gradient);
    const double state = share(2 * element, way.divides_state);
    stack("a", "p", parameter);
    stack("b", "g", gradient);
    stack("c", "m, v", state);
    sheet.text("middle strong", x + bar / 2, y - 13, fmt::format("{} B", parameter + gradient + state));
    sheet.text("middle", x + bar / 2, floor + 18, way.name);
    x += step;
  }
  return sheet.svg();
}

}  // namespace dist::pictures
