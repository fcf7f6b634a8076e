// Tensor parallelism: X W1 by columns, then W2 by rows, on two ranks. Blue is what rank 0 has, orange what
// rank 1 has, grey what both have.
#include "picture.h"
#include "sheet.h"

namespace dist::pictures {
namespace split {
namespace {

constexpr double width = 800, height = 210, middle = 100;  // px
constexpr double tokens = 54, model = 84, hidden = 132;    // px: the axes of the matrices
constexpr double label = middle + hidden / 2 + 26;         // below the tallest one

// What a matrix is divided by.
enum class Cut { none, columns, rows };

void matrix(Sheet& sheet, double x, double wide, double high, Cut cut, std::string_view name) {
  const double y = middle - high / 2;
  switch (cut) {
    case Cut::none: sheet.bar("both", x, y, wide, high); break;
    case Cut::columns:
      sheet.bar("a", x, y, wide / 2, high);
      sheet.bar("b", x + wide / 2, y, wide / 2, high);
      break;
    case Cut::rows: sheet.bar("a", x, y, wide, high / 2); sheet.bar("b", x, y + high / 2, wide, high / 2);
  }
  sheet.text("middle strong", x + wide / 2, label, name);
}

}  // namespace
}  // namespace split

std::string split_matrices() {
  using namespace split;
  Sheet sheet(width, height, "Two matrices, divided between two ranks by columns and by rows");
  double x = 16;
  const auto next = [&](double wide, double high, Cut cut, std::string_view name, std::string_view then) {
    matrix(sheet, x, wide, high, cut, name);
    x += wide + 18;
    sheet.text("middle strong", x, middle, then);
    x += 18;
  };
  next(model, tokens, Cut::none, "X", "·");
  next(hidden, model, Cut::columns, "W1", "=");
  next(hidden, tokens, Cut::columns, "GELU(X W1)", "·");
  next(model, hidden, Cut::rows, "W2", "=");
  sheet.bar("a", x, middle - tokens / 2 - 34, model, tokens);
  sheet.text("middle strong", x + model / 2, middle - 1, "+");
  sheet.bar("b", x, middle + 34 - tokens / 2 - 2, model, tokens);
  sheet.text("middle", x + model / 2, label, "all_reduce");
  x += model + 18;
  sheet.text("middle strong", x, middle, "=");
  matrix(sheet, x + 18, model, tokens, Cut::none, "Y");
  return sheet.svg();
}

}  // namespace dist::pictures
