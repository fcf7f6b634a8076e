// Lab 08: numbers, and how they are spread over the ranks, drawn by lot. All are eighths, and so exact in
// f32.
#pragma once

#include <string>
#include <vector>

#include "support.h"

namespace lab08::draw {

double eighths(judge::Random& random, double low, double high);

// Shards of these lengths; entries around `center`.
Item row(judge::Random& random, const std::vector<int>& lengths, double center = 0,
         const std::string& dtype = "f32");
Item same_lengths(judge::Random& random, int ranks, int elements, double center = 0,
                  const std::string& dtype = "f32");
Item weighted(judge::Random& random, int ranks, int elements, const std::string& dtype = "f32");
// Uneven shards; one rank's entries far above all others', and a rank's far below: each max counts.
Item far_apart(judge::Random& random, int ranks, const std::string& dtype = "f32");
std::vector<int> uneven(judge::Random& random, int ranks);  // lengths, all different and not 0
Item with_target(Item item, std::int64_t target);
void mask(Reals& shard);

// Of softmax_of_row and softmax_in_one.
Asked awkward_rows(judge::Random& random, const std::string& call);  // empty shards
Asked masked_rows(judge::Random& random, const std::string& call);
Asked stable_rows(judge::Random& random, const std::string& call);  // at 1e4 and -1e4

}  // namespace lab08::draw
