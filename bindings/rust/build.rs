// SPDX-License-Identifier: MIT
//! Where the library is: IPCWAIT_LIB_DIR, or what pkg-config says, or the linker's own places.

use std::{env, process::Command};

fn from_pkg_config() -> Option<String> {
    let out = Command::new("pkg-config").args(["--variable=libdir", "libipcwait"]).output().ok()?;
    let folder = String::from_utf8(out.stdout).ok()?.trim().to_string();
    (out.status.success() && !folder.is_empty()).then_some(folder)
}

fn main() {
    println!("cargo:rerun-if-env-changed=IPCWAIT_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Some(folder) = env::var("IPCWAIT_LIB_DIR").ok().or_else(from_pkg_config) {
        println!("cargo:rustc-link-search=native={folder}");
    }
    println!("cargo:rustc-link-lib=dylib=ipcwait");
}
