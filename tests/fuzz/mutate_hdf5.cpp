#include "tests/fuzz/mutate_hdf5.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace barrio::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Names = std::vector<std::string>;

bool is_plain(hid_t type, hid_t space) {
  const hssize_t n = H5Sget_simple_extent_npoints(space);
  return n > 0 && n < 100'000 && H5Tget_size(type) > 0 && H5Tget_size(type) < 10'000 &&
         H5Tdetect_class(type, H5T_VLEN) <= 0 && H5Tdetect_class(type, H5T_REFERENCE) <= 0 &&
         H5Tis_variable_str(type) <= 0;
}
Bytes room_for(hid_t type, hid_t space) {
  return Bytes(H5Tget_size(type) * static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
}

void copy_attributes(hid_t from, hid_t to) {
  const int n = H5Aget_num_attrs(from);
  for (int i = 0; i < n; ++i) {
    const hid_t attribute =
        H5Aopen_by_idx(from, ".", H5_INDEX_NAME, H5_ITER_INC, static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    const hid_t space = H5Aget_space(attribute);
    if (is_plain(type, space)) {
      std::array<char, 256> name{};
      H5Aget_name(attribute, name.size(), name.data());
      Bytes bytes = room_for(type, space);
      H5Aread(attribute, type, bytes.data());
      const hid_t again = H5Acreate2(to, name.data(), type, space, H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(again, type, bytes.data());
      H5Aclose(again);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
  }
}

/// Changes an HDF5 file in memory step by step.
class Mutator {
  // Before its callers: its type is deduced.
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(source_); }
  template <class Items>
  const auto& pick(const Items& items) {
    return items[static_cast<std::size_t>(below(static_cast<int>(items.size())))];
  }

 public:
  Mutator(hid_t file, unsigned seed) : file_(file), source_(seed) {}

  void change_something() {
    paths_.clear();
    H5Ovisit2(
        file_, H5_INDEX_NAME, H5_ITER_INC,
        [](hid_t, const char* name, const H5O_info_t*, void* paths) -> herr_t {
          static_cast<Names*>(paths)->emplace_back(name);
          return 0;
        },
        &paths_, H5O_INFO_BASIC);
    if (paths_.empty()) return;
    const std::string path = pick(paths_);
    const int what = below(16);
    if (what == 0) {
      remove(path);
    } else if (what == 1) {
      put_elsewhere(path);
    } else if (what == 2) {
      reshape(path);
    } else if (what == 3) {
      replace_attribute(path);
    } else {
      change_values(path, what % 4 == 0);
    }
  }

 private:
  /// Return a number that readers may not expect.
  double strange(double now) {
    static constexpr std::array<double, 18> numbers{-1, 0,   1,   2,   3,    5,           8,           20,   22,
                                                    23, 127, 255, 1e5, 1e12, 2147483647., 2147483648., 9e18, -9e18};
    switch (below(4)) {
      case 0: return now + (below(2) == 0 ? 1 : -1);
      case 1: return below(24);
      case 2: return -now;
      default: return pick(numbers);
    }
  }

  /// Change numbers by their values; let the fuzzer change the bytes of other types.
  void change(Bytes& bytes, hid_t type) {
    if (bytes.empty()) return;
    const H5T_class_t kind = H5Tget_class(type);
    const std::size_t width = H5Tget_size(type);
    const bool is_number = (kind == H5T_INTEGER || kind == H5T_FLOAT) && width <= 8;
    if (!is_number || below(3) == 0) {
      Bytes changed = bytes;
      LLVMFuzzerMutate(changed.data(), changed.size(), changed.size());
      bytes = changed;
      return;
    }
    const int n = static_cast<int>(bytes.size() / width);
    std::array<unsigned char, 16> one{};
    auto* at = bytes.data() + static_cast<std::size_t>(below(std::min(n, below(2) == 0 ? n : 8))) * width;
    const auto* other = bytes.data() + static_cast<std::size_t>(below(n)) * width;
    if (below(4) == 0) {
      std::memmove(at, other, width);
      return;
    }
    std::memcpy(one.data(), other, width);
    H5Tconvert(type, H5T_NATIVE_DOUBLE, 1, one.data(), nullptr, H5P_DEFAULT);
    double value = 0;
    std::memcpy(&value, one.data(), sizeof value);
    value = strange(value);
    if (kind == H5T_FLOAT && below(8) == 0)
      value = below(2) == 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    std::memcpy(one.data(), &value, sizeof value);
    H5Tconvert(H5T_NATIVE_DOUBLE, type, 1, one.data(), nullptr, H5P_DEFAULT);
    std::memcpy(at, one.data(), width);
  }

  void change_values(const std::string& path, bool prefer_attribute) {
    const hid_t object = H5Oopen(file_, path.c_str(), H5P_DEFAULT);
    const bool is_dataset = H5Iget_type(object) == H5I_DATASET;
    const int n_attributes = H5Aget_num_attrs(object);
    if (n_attributes > 0 && (prefer_attribute || !is_dataset)) {
      change_attribute(object, below(n_attributes));
    } else if (is_dataset) {
      const hid_t type = H5Dget_type(object);
      const hid_t space = H5Dget_space(object);
      if (is_plain(type, space)) {
        Bytes bytes = room_for(type, space);
        H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
        change(bytes, type);
        H5Dwrite(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
      }
      H5Sclose(space);
      H5Tclose(type);
    }
    H5Oclose(object);
  }

  void change_attribute(hid_t object, int i) {
    const hid_t attribute =
        H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT);
    const hid_t named = H5Aget_type(attribute);
    const hid_t type = H5Tcopy(named);  // writing by a committed type fails in HDF5 1.10
    const hid_t space = H5Aget_space(attribute);
    if (is_plain(type, space)) {
      Bytes bytes = room_for(type, space);
      H5Aread(attribute, type, bytes.data());
      change(bytes, type);
      std::array<char, 256> name{};
      H5Aget_name(attribute, name.size(), name.data());
      H5Aclose(attribute);
      H5Adelete(object, name.data());
      const hid_t again = H5Acreate2(object, name.data(), named, space, H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(again, type, bytes.data());
      H5Aclose(again);
    } else {
      H5Aclose(attribute);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Tclose(named);
  }

  void remove(const std::string& path) {
    const hid_t object = H5Oopen(file_, path.c_str(), H5P_DEFAULT);
    const int n = H5Aget_num_attrs(object);
    if (n > 0 && below(2) == 0) {
      H5Adelete_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, static_cast<hsize_t>(below(n)), H5P_DEFAULT);
    } else if (path != ".") {
      H5Ldelete(file_, path.c_str(), H5P_DEFAULT);
    }
    H5Oclose(object);
  }

  /// Link an object under the name of another, which it replaces, or under its own name in the other's group.
  void put_elsewhere(const std::string& path) {
    const std::string other = pick(paths_);
    if (path == "." || other == "." || other.starts_with(path) || path.starts_with(other)) return;
    std::string target = other;
    if (below(2) == 0) target = other.substr(0, other.rfind('/') + 1) + path.substr(path.rfind('/') + 1);
    if (below(4) == 0) target.back() = static_cast<char>('0' + below(10));
    if (H5Lexists(file_, target.c_str(), H5P_DEFAULT) > 0) H5Ldelete(file_, target.c_str(), H5P_DEFAULT);
    H5Lcreate_hard(file_, path.c_str(), file_, target.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  }

  hid_t some_type(hid_t now) {
    const std::array<hid_t, 9> types{H5T_NATIVE_INT,   H5T_NATIVE_INT64, H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, H5T_C_S1,
                                     H5T_NATIVE_UINT8, H5T_STD_I32BE,    H5T_NATIVE_UINT64, H5T_NATIVE_INT16};
    if (below(4) == 0) {
      const hsize_t n = static_cast<hsize_t>(1 + below(3));
      return H5Tarray_create2(pick(types), 1, &n);
    }
    return H5Tcopy(below(2) == 0 ? now : pick(types));
  }

  hid_t some_space(hid_t now) {
    std::array<hsize_t, H5S_MAX_RANK> sizes{};
    int rank = std::max(H5Sget_simple_extent_dims(now, sizes.data(), nullptr), 0);
    switch (below(6)) {
      case 0: sizes[static_cast<std::size_t>(rank++)] = static_cast<hsize_t>(1 + below(4)); break;
      case 1: rank = std::max(rank - 1, 0); break;
      case 2: std::swap(sizes[0], sizes[1]); break;
      default:
        if (rank > 0) {
          hsize_t& size = sizes[static_cast<std::size_t>(below(rank))];
          static constexpr std::array<hsize_t, 6> strange_sizes{0, 1, 1000, 1ULL << 31U, 1ULL << 40U, 1ULL << 62U};
          size = below(2) == 0 ? size + static_cast<hsize_t>(1 - 2 * below(2)) : pick(strange_sizes);
          if (size > (1ULL << 62U)) size = 1;
        }
    }
    return H5Screate_simple(std::min(rank, 6), sizes.data(), nullptr);
  }

  /// Recreate a dataset with another shape or type, with as many old values as fit.
  void reshape(const std::string& path) {
    const hid_t old = H5Dopen2(file_, path.c_str(), H5P_DEFAULT);
    if (old < 0) return;
    const hid_t old_type = H5Dget_type(old);
    const hid_t old_space = H5Dget_space(old);
    const bool was_plain = is_plain(old_type, old_space);
    Bytes bytes;
    if (was_plain) {
      bytes = room_for(old_type, old_space);
      H5Dread(old, old_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
    }
    const hid_t type = some_type(old_type);
    const hid_t space = some_space(old_space);
    const std::string target = path + "~";
    const hid_t made = H5Dcreate2(file_, target.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (made >= 0) {
      if (is_plain(type, space)) {
        bytes.resize(H5Tget_size(type) * static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
        H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
      }
      copy_attributes(old, made);
      H5Dclose(made);
      H5Ldelete(file_, path.c_str(), H5P_DEFAULT);
      H5Lmove(file_, target.c_str(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Sclose(old_space);
    H5Tclose(old_type);
    H5Dclose(old);
  }

  /// Give an attribute another shape or type.
  void replace_attribute(const std::string& path) {
    const hid_t object = H5Oopen(file_, path.c_str(), H5P_DEFAULT);
    const int n = H5Aget_num_attrs(object);
    if (n > 0) {
      const hid_t old = H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, static_cast<hsize_t>(below(n)),
                                       H5P_DEFAULT, H5P_DEFAULT);
      const hid_t old_type = H5Aget_type(old);
      const hid_t old_space = H5Aget_space(old);
      const hid_t type = some_type(old_type);
      const hid_t space = some_space(old_space);
      std::array<char, 256> name{};
      H5Aget_name(old, name.size(), name.data());
      H5Aclose(old);
      if (is_plain(type, space)) {
        Bytes bytes = room_for(type, space);
        LLVMFuzzerMutate(bytes.data(), bytes.size(), bytes.size());
        H5Adelete(object, name.data());
        const hid_t again = H5Acreate2(object, name.data(), type, space, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(again, type, bytes.data());
        H5Aclose(again);
      }
      H5Sclose(space);
      H5Tclose(type);
      H5Sclose(old_space);
      H5Tclose(old_type);
    }
    H5Oclose(object);
  }

  hid_t file_;
  std::minstd_rand source_;
  Names paths_;
};

/// Open a file in memory only. @param image  its bytes; empty for a new file
hid_t open_in_memory(std::span<std::uint8_t> image) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 4096, 0);
  if (!image.empty()) H5Pset_file_image(access, image.data(), image.size());
  const hid_t file = image.empty() ? H5Fcreate("barrio-fuzz-copy", H5F_ACC_TRUNC, H5P_DEFAULT, access)
                                   : H5Fopen("barrio-fuzz", H5F_ACC_RDWR, access);
  H5Pclose(access);
  return file;
}

/// Copy a file, because the original keeps freed space.
hid_t packed(hid_t file) {
  const hid_t copy = open_in_memory({});
  H5Literate(
      file, H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t from, const char* name, const H5L_info_t*, void* to) -> herr_t {
        H5Ocopy(from, name, *static_cast<hid_t*>(to), name, H5P_DEFAULT, H5P_DEFAULT);
        return 0;
      },
      const_cast<hid_t*>(&copy));
  const hid_t from = H5Gopen2(file, "/", H5P_DEFAULT);
  const hid_t to = H5Gopen2(copy, "/", H5P_DEFAULT);
  copy_attributes(from, to);
  H5Gclose(to);
  H5Gclose(from);
  return copy;
}

}  // namespace

bool is_hdf5(std::span<const std::uint8_t> file) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  return file.size() > signature.size() && std::memcmp(file.data(), signature.data(), signature.size()) == 0;
}

std::size_t mutate_hdf5(std::span<std::uint8_t> bytes, std::size_t max_size, unsigned seed) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t file = open_in_memory(bytes);
  if (file < 0) return bytes.size();
  Mutator mutator(file, seed);
  for (unsigned i = 0; i <= seed % 3; ++i) mutator.change_something();
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  const hid_t copy = packed(file);
  H5Fflush(copy, H5F_SCOPE_GLOBAL);
  std::size_t n = bytes.size();
  const ssize_t size = H5Fget_file_image(copy, nullptr, 0);
  if (size > 0 && static_cast<std::size_t>(size) <= max_size && H5Fget_file_image(copy, bytes.data(), max_size) == size)
    n = static_cast<std::size_t>(size);
  H5Fclose(copy);
  H5Fclose(file);
  return n;
}

}  // namespace barrio::test
