#include "programs.h"

#include <array>

// The functions are called rank_main and right_main in their files; see CMakeLists.txt.
#define PROGRAM(name, found, ...) \
  WrongProgram { #name, found, {__VA_ARGS__ }, wrong_##name, right_##name }

void wrong_d01_swap(int rank);
void right_d01_swap(int rank);
void wrong_d01_left_out(int rank);
void right_d01_left_out(int rank);
void wrong_d02_order(int rank);
void right_d02_order(int rank);
void wrong_d02_logger(int rank);
void right_d02_logger(int rank);
void wrong_d03_sizes(int rank);
void right_d03_sizes(int rank);
void wrong_d03_dtypes(int rank);
void right_d03_dtypes(int rank);
void wrong_d04_early(int rank);
void right_d04_early(int rank);
void wrong_d04_ring(int rank);
void right_d04_ring(int rank);
void wrong_d05_reuse(int rank);
void right_d05_reuse(int rank);
void wrong_d05_next_batch(int rank);
void right_d05_next_batch(int rank);
void wrong_d06_dropped(int rank);
void right_d06_dropped(int rank);
void wrong_d06_overwritten(int rank);
void right_d06_overwritten(int rank);
void wrong_d07_letter(int rank);
void right_d07_letter(int rank);
void wrong_d07_one_more(int rank);
void right_d07_one_more(int rank);
void wrong_d08_inbox(int rank);
void right_d08_inbox(int rank);
void wrong_d08_halves(int rank);
void right_d08_halves(int rank);
void wrong_d09_outsider(int rank);
void right_d09_outsider(int rank);
void wrong_d09_pairs(int rank);
void right_d09_pairs(int rank);
void wrong_d10_left_at_home(int rank);
void right_d10_left_at_home(int rank);
void wrong_d10_second_group(int rank);
void right_d10_second_group(int rank);
void wrong_d11_summand(int rank);
void right_d11_summand(int rank);
void wrong_d11_bias(int rank);
void right_d11_bias(int rank);
void wrong_d12_forgotten(int rank);
void right_d12_forgotten(int rank);
void wrong_d12_unnamed(int rank);
void right_d12_unnamed(int rank);
void wrong_d13_seeds(int rank);
void right_d13_seeds(int rank);
void wrong_d13_rows(int rank);
void right_d13_rows(int rank);

namespace dist::test {

std::span<const WrongProgram> wrong_programs() {
  using enum Found;
  static const std::array programs{
      PROGRAM(d01_swap, everywhere, 0, 1),        PROGRAM(d01_left_out, everywhere, 0, 1),
      PROGRAM(d02_order, everywhere, 0, 1),       PROGRAM(d02_logger, everywhere, 0, 1),
      PROGRAM(d03_sizes, detail, 0, 1),           PROGRAM(d03_dtypes, detail, 0, 1, 2),
      PROGRAM(d04_early, simulated, 1),           PROGRAM(d04_ring, simulated, 0, 1, 2),
      PROGRAM(d05_reuse, simulated, 0),           PROGRAM(d05_next_batch, simulated, 1),
      PROGRAM(d06_dropped, everywhere, 0),        PROGRAM(d06_overwritten, everywhere, 0, 1),
      PROGRAM(d07_letter, simulated, 0),          PROGRAM(d07_one_more, simulated, 0),
      PROGRAM(d08_inbox, simulated, 0),           PROGRAM(d08_halves, simulated, 0, 1),
      PROGRAM(d09_outsider, everywhere, 2),       PROGRAM(d09_pairs, everywhere, 0, 1, 2),
      PROGRAM(d10_left_at_home, simulated, 0, 1), PROGRAM(d10_second_group, simulated, 0, 1),
      PROGRAM(d11_summand, detail, 0, 1),         PROGRAM(d11_bias, detail, 0, 1, 2),
      PROGRAM(d12_forgotten, detail, 0, 1),       PROGRAM(d12_unnamed, detail, 0, 1),
      PROGRAM(d13_seeds, detail, 0, 1),           PROGRAM(d13_rows, detail, 0, 1),
  };
  return programs;
}

}  // namespace dist::test
