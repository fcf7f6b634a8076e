// Marks: in the test of when a rank adds, every number says of which segment it is.
#pragma once

namespace lab09 {

// Rank r's number in segment s is r + 1 + mark * s. Sums of up to ten ranks' r + 1 are smaller than it.
inline constexpr int mark = 64;
inline constexpr const char* with_marks = " with marked segments";  // after the name of the call

}  // namespace lab09
