// MNIST: 70,000 handwritten digits (LeCun, Cortes, Burges 1998), from its four well-known files.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "dist/data/images.h"

namespace dist::data {

enum class Split { train, test };

// Mean and standard deviation of all training pixels.
inline constexpr Normalisation mnist_normalisation{0.1307F, 0.3081F};

// A file, uncompressed.
struct MnistFile {
  std::string_view name;
  std::int64_t bytes;
  std::string_view sha256;  // 64 hexadecimal digits
};
inline constexpr std::array mnist_files{
    MnistFile{"train-images-idx3-ubyte", 47'040'016,
              "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    MnistFile{"train-labels-idx1-ubyte", 60'008,
              "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    MnistFile{"t10k-images-idx3-ubyte", 7'840'016,
              "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    MnistFile{"t10k-labels-idx1-ubyte", 10'008,
              "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
};

// The path of the file in the folder, with or without .gz; empty if it is not there.
std::filesystem::path find_mnist_file(const std::filesystem::path& folder, std::string_view name);

// The same; throws Error{resource}, which names the file and says where to get it, if it is not there.
std::filesystem::path mnist_file(const std::filesystem::path& folder, std::string_view name);

// 28 x 28 pixels, labels 0 to 9. Throws Error{resource}, which names a file that is not there, and
// Error{invalid_argument}, which names a file that is not what it should be: another format, cut off, images
// of another size, more or fewer labels than images, a label above 9.
Images load_mnist(const std::filesystem::path& folder, Split split);

}  // namespace dist::data
