// distlab data digits: draws generated digits.
#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/whole_file.h"

#include "distlab/commands.h"
#include "distlab/data/pictures.h"
#include "distlab/terminal.h"

namespace distlab {
namespace {

std::vector<dist::data::DigitImage> draw(const DigitsOptions& options, std::int64_t count) {
  std::vector<dist::data::DigitImage> digits;
  for (std::int64_t i = 0; i < count; ++i) digits.push_back(dist::data::draw_digit(options.seed, i));
  return digits;
}

void show(const DigitsOptions& options) {
  constexpr int most = 5, columns_of_one = 14, gap = 2;  // five of them in 78 columns
  const auto at_once =
      static_cast<std::size_t>(std::clamp((columns_to_fit() + gap) / (columns_of_one + gap), 1, most));
  const auto digits = draw(options, options.count.value_or(10));
  for (std::size_t i = 0; i < digits.size(); i += at_once)
    fmt::print("{}\n", in_terminal(std::span(digits).subspan(i, std::min(at_once, digits.size() - i))));
}

void write_sheet(const DigitsOptions& options) {
  constexpr std::size_t columns = 25;
  const auto digits = draw(options, options.count.value_or(500));
  dist::write_whole_file(options.sheet, contact_sheet(digits, columns));
  fmt::print("{}: {}\n", dist::counted(digits.size(), "digit"), options.sheet.string());
}

}  // namespace

int show_digits(const DigitsOptions& options) {
  if (!options.sheet.empty()) write_sheet(options);
  if (options.show || options.sheet.empty()) show(options);
  return exit_ok;
}

}  // namespace distlab
