// Bounds: how much a process that is not trusted may say. Its words are counted before they are kept.
#pragma once

#include <cstddef>
#include <string_view>

namespace judge {

// Among the answers of all labs' solutions the longest frame has 0.63 MB, the largest run 3 MB.
inline constexpr std::size_t longest_answer = std::size_t{2} << 20;  // bytes of one frame
inline constexpr std::size_t most_answered = std::size_t{16} << 20;  // bytes of all frames of a run
inline constexpr std::size_t most_values = std::size_t{1} << 20;     // of all frames of a run
inline constexpr int most_frames = 16;                               // of one process
inline constexpr int most_requests = 1 << 14;  // of one process, for hidden data: frames of their own
inline constexpr int deepest_value = 16;       // arrays and objects within each other

// What all processes of a run may still say.
struct Allowance {
  std::size_t bytes = most_answered, values = most_values;
};

// What a text of JSON would become, counted without making it: values, and how deep they are within each
// other. In a text that is not JSON it counts at least what a parser makes before it notices.
struct Shape {
  std::size_t values = 0;
  int depth = 0;
};
Shape shape_of(std::string_view json);

}  // namespace judge
