// What `distlab train` was asked to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace distlab {

struct TrainOptions {
  int ranks = 0;                 // 0: as many as the scheme can use, two at most
  std::string scheme = "ddp";    // of train/scheme.h
  std::string device = "cpu";    // or "cuda": rank r takes GPU r, modulo how many there are
  std::string backend = "auto";  // as init_process_group() takes it
  int epochs = 2;
  std::int64_t batch_size = 64;       // of each rank
  std::int64_t samples = 12'000;      // generated digits, in an epoch of all ranks
  std::int64_t test_samples = 2'000;  // others
  double lr = 0.02;
  std::uint64_t seed = 0;            // of the first weights, and of the order
  std::filesystem::path checkpoint;  // written after each epoch; empty: none
  bool resume = false;               // from it, if it is there
  std::filesystem::path plot;        // a folder for the SVG files; empty: none
};

}  // namespace distlab
