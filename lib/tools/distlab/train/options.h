// What `distlab train` was asked to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace distlab {

struct TrainOptions {
  int ranks = 0;                 // or threads, or one: as the scheme has; 0: two at most
  std::string scheme = "ddp";    // of train/scheme.h
  std::string device = "cpu";    // or "cuda": rank r takes GPU r, modulo how many there are
  std::string backend = "auto";  // as init_process_group() takes it
  int epochs = 2;
  std::int64_t batch_size = 64;   // of each rank, or thread
  std::string data = "digits";    // generated, or "mnist"
  std::filesystem::path folder;   // of MNIST's files; empty: where `distlab data mnist` looks
  std::int64_t samples = 0;       // in an epoch of all ranks; 0: 12,000 digits, all of MNIST
  std::int64_t test_samples = 0;  // others; 0: 2,000 digits, all of MNIST
  double lr = 0.02;
  double momentum = 0.9;
  std::uint64_t seed = 0;            // of the first weights, and of the order
  std::filesystem::path checkpoint;  // written after each epoch; empty: none
  bool resume = false;               // from it, if it is there
  std::filesystem::path plot;        // a folder for the SVG files; empty: none
};

}  // namespace distlab
