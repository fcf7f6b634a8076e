// distlab data mnist: says where the files of MNIST belong, and checks them.
#include <string>

#include <fmt/format.h>

#include "dist/core/error.h"
#include "dist/data/idx.h"
#include "dist/data/mnist.h"

#include "distlab/commands.h"
#include "distlab/digest.h"
#include "distlab/terminal.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

using dist::data::MnistFile;

// Returns an empty text when the file is right.
std::string wrong_with(const MnistFile& wanted, const fs::path& file) {
  std::string bytes;
  try {
    const auto read = dist::data::read_maybe_gzip(file);
    bytes.assign(reinterpret_cast<const char*>(read.data()), read.size());
  } catch (const dist::Error& error) {
    return error.what();
  }
  if (static_cast<std::int64_t>(bytes.size()) != wanted.bytes)
    return fmt::format("has {} bytes instead of {} (uncompressed); download it again", bytes.size(),
                       wanted.bytes);
  const auto digest = digest_of_text(bytes);
  if (digest != wanted.sha256)
    return fmt::format("has SHA-256 {} instead of {} (uncompressed); download it again", digest,
                       wanted.sha256);
  return "";
}

void explain(const fs::path& folder) {
  fmt::print(
      "\nMNIST has four files; distlab does not download them itself. Get them, with or without .gz, from\n"
      "  https://storage.googleapis.com/cvdf-datasets/mnist/ or "
      "https://ossci-datasets.s3.amazonaws.com/mnist/\n"
      "for example with\n\n"
      "  mkdir -p {0}\n"
      "  cd {0}\n"
      "  from=https://storage.googleapis.com/cvdf-datasets/mnist\n"
      "  for f in train-images-idx3 train-labels-idx1 \\\n"
      "           t10k-images-idx3 t10k-labels-idx1; do\n"
      "    curl -fO $from/$f-ubyte.gz\n"
      "  done\n\n"
      "then run this command again. To train on them: ./distlab train --data mnist. No lab needs them: the "
      "generated\n"
      "digits (./distlab data digits) are enough.\n",
      folder.string());
}

}  // namespace

int check_mnist(const MnistOptions& options) {
  const fs::path folder = options.folder.empty() ? mnist_folder() : options.folder;
  int missing = 0, wrong = 0;
  for (const auto& wanted : dist::data::mnist_files) {
    const fs::path file = dist::data::find_mnist_file(folder, wanted.name);
    if (file.empty()) {
      ++missing;
      fmt::print("{}  {}\n", styled(Style::warn, "missing"), wanted.name);
      continue;
    }
    const auto problem = wrong_with(wanted, file);
    if (!problem.empty()) ++wrong;
    fmt::print("{}  {}: {}\n",
               problem.empty() ? styled(Style::good, "ok     ") : styled(Style::bad, "wrong  "),
               file.string(),
               problem.empty() ? fmt::format("{} bytes, the SHA-256 is right", wanted.bytes) : problem);
  }
  if (missing > 0) explain(folder);
  if (wrong > 0) return exit_failed;
  return missing > 0 ? exit_missing : exit_ok;
}

}  // namespace distlab
