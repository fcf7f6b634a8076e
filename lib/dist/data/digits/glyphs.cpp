#include "dist/data/digits/glyphs.h"

#include <array>
#include <cstddef>
#include <sstream>
#include <string>

namespace dist::data {
namespace {

struct Written {
  int digit;
  const char* strokes;  // points "x y" in hundredths, a bar between two strokes
};

// clang-format off
constexpr Written table[] = {
    {0, "50 3  24 20  14 50  24 82  50 97  76 82  86 50  76 20  50 3"},
    {0, "62 10  42 4  20 25  15 55  30 90  58 97  82 72  84 35  66 8  45 6"},
    {1, "50 3  50 97"},
    {1, "28 30  54 3 | 54 3  54 97"},
    {1, "30 24  52 3 | 52 3  52 97 | 26 97  80 97"},
    {2, "18 28  30 8  58 3  80 20  76 42  50 68  16 95 | 16 95  86 95"},
    {2, "20 22  46 3  76 16  74 42  50 72  28 93  14 88  24 76  46 84  66 96  88 88"},
    {3, "20 16  48 3  76 20  66 42  42 48 | 42 48  72 54  82 76  56 97  18 86"},
    {3, "20 5  80 5 | 80 5  46 42 | 46 42  74 50  80 76  52 97  18 86"},
    {4, "34 3  16 58 | 16 58  88 58 | 66 30  62 97"},
    {4, "66 97  66 3 | 66 3  12 68 | 12 68  90 68"},
    {4, "24 5  20 30  30 50  52 52  74 42 | 76 5  72 50  70 97"},
    {5, "80 5  30 5 | 30 5  24 46 | 24 46  50 36  80 52  76 84  46 97  16 86"},
    {5, "82 8  50 4  30 10  26 40  52 44  78 60  70 88  42 97  18 88"},
    {6, "74 6  44 20  22 54  26 84  52 97  78 80  70 56  46 52  24 70"},
    {6, "54 3  30 40  20 72  40 96  68 92  76 70  56 56  30 66  24 80"},
    {7, "16 7  84 7 | 84 7  60 45  42 97"},
    {7, "16 7  84 7 | 84 7  60 45  42 97 | 34 50  78 50"},
    {7, "18 26  20 6 | 20 6  82 6 | 82 6  66 40  56 97"},
    {8, "74 16  50 3  28 20  42 42  64 54  78 76  50 97  22 76  38 54  62 40  74 16"},
    {8, "50 3  30 12  28 34  50 46  72 34  70 12  50 3 | 50 46  24 58  24 86  50 97  76 86  76 58  50 46"},
    {9, "76 22  56 4  30 14  26 38  48 50  72 36  76 22 | 76 22  74 60  56 97"},
    {9, "76 14  50 4  26 24  38 48  66 42  78 16 | 78 8  72 97"},
    {9, "74 30  62 8  36 8  28 34  50 48  72 34  76 20  78 60  60 92  26 90"},
};
// clang-format on

Glyph parsed(const char* strokes) {
  Glyph glyph(1);
  std::istringstream words(strokes);
  for (std::string word; words >> word;) {
    if (word == "|") {
      glyph.emplace_back();
      continue;
    }
    int y = 0;
    words >> y;
    glyph.back().push_back({std::stoi(word) / 100., y / 100.});
  }
  return glyph;
}

std::array<std::vector<Glyph>, 10> parsed_table() {
  std::array<std::vector<Glyph>, 10> glyphs;
  for (const auto& [digit, strokes] : table)
    glyphs[static_cast<std::size_t>(digit)].push_back(parsed(strokes));
  return glyphs;
}

}  // namespace

const std::vector<Glyph>& glyphs_of(int digit) {
  static const auto glyphs = parsed_table();
  return glyphs[static_cast<std::size_t>(digit)];
}

}  // namespace dist::data
