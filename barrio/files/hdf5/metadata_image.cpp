#include "barrio/files/detail/metadata_image.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include "barrio/files/hdf5/without_times.hpp"

namespace barrio::files::detail {

/// The image as a file of HDF5: a driver of its virtual file layer. No exception may pass through HDF5.
struct ImageDriver {
  H5FD_t head{};  // must be first: HDF5 casts to this type
  MetadataImage* image = nullptr;

  static MetadataImage& of(H5FD_t* file) { return *reinterpret_cast<ImageDriver*>(file)->image; }
  static const MetadataImage& of(const H5FD_t* file) { return *reinterpret_cast<const ImageDriver*>(file)->image; }

  static H5FD_t* open(const char*, unsigned, hid_t access, haddr_t) {
    const auto* image = static_cast<MetadataImage* const*>(H5Pget_driver_info(access));
    auto* driver = image == nullptr ? nullptr : new (std::nothrow) ImageDriver;
    if (driver == nullptr) return nullptr;
    driver->image = *image;
    return &driver->head;
  }
  static herr_t close(H5FD_t* file) {
    delete reinterpret_cast<ImageDriver*>(file);
    return 0;
  }
  static herr_t query(const H5FD_t*, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
  }
  static haddr_t end_of_space(const H5FD_t* file, H5FD_mem_t) { return of(file).end_; }
  static herr_t set_end_of_space(H5FD_t* file, H5FD_mem_t, haddr_t end) {
    of(file).end_ = end;
    return 0;
  }
  static herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t place, std::size_t n, void* to) {
    of(file).read(place, {static_cast<std::byte*>(to), n});
    return 0;
  }
  static herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t place, std::size_t n, const void* from) {
    try {
      of(file).write(place, {static_cast<const std::byte*>(from), n});
    } catch (const std::bad_alloc&) {
      of(file).is_short_ = true;  // do not report it to HDF5, which would not survive a failed write
    }
    return 0;
  }

  static const H5FD_class_t& description() {
    static const H5FD_class_t made = [] {
      H5FD_class_t it{};
#if H5_VERSION_GE(1, 13, 2)
      it.version = H5FD_CLASS_VERSION;
      it.value = static_cast<H5FD_class_value_t>(701);  // from the range for private drivers
#endif
      it.name = "barrio_image";
      it.maxaddr = HADDR_MAX - 1;
      it.fc_degree = H5F_CLOSE_WEAK;
      it.fapl_size = sizeof(MetadataImage*);
      it.open = &open;
      it.close = &close;
      it.query = &query;
      it.get_eoa = &end_of_space;
      it.set_eoa = &set_end_of_space;
      it.get_eof = &end_of_space;
      it.read = &read;
      it.write = &write;
      constexpr std::array<H5FD_mem_t, H5FD_MEM_NTYPES> lists = H5FD_FLMAP_DICHOTOMY;
      std::ranges::copy(lists, std::begin(it.fl_map));
      return it;
    }();
    return made;
  }
};

hid_t MetadataImage::create_file(const std::string& name, hid_t access) {
  driver_ = Handle(H5FDregister(&ImageDriver::description()), &H5FDunregister);
  MetadataImage* const image = this;
  if (!driver_ || H5Pset_driver(access, driver_.get(), &image) < 0) return -1;
  const Handle created = without_times(H5P_FILE_CREATE);
  return H5Fcreate(name.c_str(), H5F_ACC_TRUNC, created.get(), access);
}

void MetadataImage::write(std::uint64_t place, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    Page& page = pages_[place / page_bytes];
    const std::size_t first = place % page_bytes;
    const std::size_t n = std::min(bytes.size(), page_bytes - first);
    std::memcpy(&page.bytes[first], bytes.data(), n);
    for (std::size_t i = 0; i < n; ++i) page.is_written.set(first + i);
    place += n;
    bytes = bytes.subspan(n);
  }
}

void MetadataImage::read(std::uint64_t place, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const std::size_t first = place % page_bytes;
    const std::size_t n = std::min(bytes.size(), page_bytes - first);
    const auto page = pages_.find(place / page_bytes);
    if (page == pages_.end()) {
      std::ranges::fill(bytes.first(n), std::byte{});
    } else {
      std::memcpy(bytes.data(), &page->second.bytes[first], n);
    }
    place += n;
    bytes = bytes.subspan(n);
  }
}

void MetadataImage::for_each_piece(
    const std::function<void(std::uint64_t place, std::span<const std::byte>)>& visit) const {
  if (is_short_) throw std::bad_alloc();
  for (const auto& [number, page] : pages_) {
    for (std::size_t first = 0; first < page_bytes;) {
      if (!page.is_written[first]) {
        ++first;
        continue;
      }
      std::size_t end = first;
      while (end < page_bytes && page.is_written[end]) ++end;
      visit(number * page_bytes + first, std::span(page.bytes).subspan(first, end - first));
      first = end;
    }
  }
}

}  // namespace barrio::files::detail
