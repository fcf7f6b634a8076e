// The signs of an ASCII or Unicode diagram; each takes one column.
#pragma once

#include <string_view>

namespace dist::trace {

struct Glyphs {
  // A rank's line through time: outside any call, in a call, blocked, computing.
  std::string_view idle, busy, waits, computes;
  std::string_view call_begin, call_inside, call_end;  // inside: while another call is open
  std::string_view departure, arrival, reduced, lost, shared;
  std::string_view dash, to_right, to_left;
  // Where an arrow crosses a rank's line or leaves it, idle or busy.
  std::string_view cross_idle, cross_busy, right_idle, right_busy, left_idle, left_busy;
  std::string_view ellipsis;
};

inline constexpr Glyphs unicode_glyphs{"│", "┃", "┊", "▒", "┏", "┣", "┗", "○", "◀", "⊕", "✗",
                                       "≡", "─", "▶", "◀", "┼", "╂", "├", "┠", "┤", "┨", "…"};
inline constexpr Glyphs ascii_glyphs{"|", "#", ":", "%", "#", "#", "#", "o", "<", "+", "x",
                                     "=", "-", ">", "<", "+", "+", "*", "*", "*", "*", "~"};

}  // namespace dist::trace
